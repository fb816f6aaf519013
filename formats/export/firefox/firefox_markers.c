/* SPDX-License-Identifier: MIT */
/*
 * Samples of events other than time, as markers on their thread: time, count and stack. Threads
 * without samples of the main event have no marker table; their samples appear in the event's own
 * tracks only.
 */
#include "export/firefox/firefox.h"

#include "profile/walk.h"

static const char type[] = "Event";

static bool is_marked(const struct profile *profile, uint32_t event)
{
    return event < profile->event_count && event != profile->main_event &&
           profile->events[event].unit == PROFILE_COUNT;
}

void firefox_write_marker_schema(struct firefox *firefox)
{
    struct buffer *out = firefox->out;
    json_key(out, "markerSchema"); /* must be there, also without markers */
    json_open(out, '[');
    json_open(out, '{');
    json_member_string(out, "name", type);
    json_key(out, "display");
    json_open(out, '[');
    json_string(out, "marker-chart");
    json_string(out, "marker-table");
    json_close(out, ']');
    json_member_string(out, "tooltipLabel", "{marker.name}");
    json_member_string(out, "tableLabel", "{marker.data.count}");
    json_key(out, "fields");
    json_open(out, '[');
    json_open(out, '{');
    json_member_string(out, "key", "count");
    json_member_string(out, "label", "Count");
    json_member_string(out, "format", "integer");
    json_close(out, '}');
    json_close(out, ']');
    json_close(out, '}');
    json_close(out, ']');
}

void firefox_add_marker_names(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    for (size_t i = 0; i < profile->event_count; i++)
        text_table_add(&firefox->texts, profile_text(profile, profile->events[i].name));
}

static void write_data(struct firefox *firefox, const struct profile_sample *sample)
{
    json_open(firefox->out, '{');
    json_member_string(firefox->out, "type", type);
    json_member_unsigned(firefox->out, "count", sample->weight);
    if (sample->stack != PROFILE_NONE) {
        json_key(firefox->out, "cause");
        json_open(firefox->out, '{');
        firefox_member_time(firefox, "time", sample->time_ns);
        json_member_unsigned(firefox->out, "stack", sample->stack);
        json_close(firefox->out, '}');
    }
    json_close(firefox->out, '}');
}

static void write_name(struct firefox *firefox, const struct profile_sample *sample)
{
    const struct profile *profile = firefox->profile;
    const char *name = profile_text(profile, profile->events[sample->event].name);
    json_unsigned(firefox->out, text_table_add(&firefox->texts, name));
}

static void write_start(struct firefox *firefox, const struct profile_sample *sample)
{
    uint64_t start_ns = firefox->profile->start_ns;
    json_millionths(firefox->out, sample->time_ns > start_ns ? sample->time_ns - start_ns : 0);
}

static void write_zero(struct firefox *firefox, const struct profile_sample *sample)
{
    (void)sample;
    json_unsigned(firefox->out, 0); /* no end; phase: an instant; category: other */
}

/* A thread's marked events by time, the order of the front-end's list. */
static void open_marked(struct firefox *firefox, uint32_t thread, struct profile_by_time *marked)
{
    *marked = (struct profile_by_time){0};
    if (thread < firefox->profile->thread_count &&
        profile_by_time_open_thread(marked, firefox->profile, thread, is_marked) != 0)
        firefox->texts.failed = true;
}

static size_t count_marked(struct firefox *firefox, uint32_t thread)
{
    struct profile_by_time marked;
    size_t count = 0;
    open_marked(firefox, thread, &marked);
    while (profile_by_time_next(&marked))
        count++;
    profile_by_time_close(&marked);
    return count;
}

static void write_column(struct firefox *firefox, uint32_t thread, const char *key,
                         void (*write)(struct firefox *firefox,
                                       const struct profile_sample *sample))
{
    struct profile_by_time marked;
    open_marked(firefox, thread, &marked);
    json_key(firefox->out, key);
    json_open(firefox->out, '[');
    for (const struct profile_sample *sample; (sample = profile_by_time_next(&marked));)
        write(firefox, sample);
    json_close(firefox->out, ']');
    profile_by_time_close(&marked);
}

void firefox_write_markers(struct firefox *firefox, uint32_t thread)
{
    json_key(firefox->out, "markers");
    json_open(firefox->out, '{');
    json_member_unsigned(firefox->out, "length", count_marked(firefox, thread));
    write_column(firefox, thread, "data", write_data);
    write_column(firefox, thread, "name", write_name);
    write_column(firefox, thread, "startTime", write_start);
    write_column(firefox, thread, "endTime", write_zero);
    write_column(firefox, thread, "phase", write_zero);
    write_column(firefox, thread, "category", write_zero);
    json_close(firefox->out, '}');
}
