/* SPDX-License-Identifier: MIT */
/*
 * Samples of events other than time, as markers on their thread: time, count and stack; the
 * life of the thread (firefox_lives.c); and long waits (firefox_waits.c). All are in the tracks of
 * the main event.
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
    if (firefox->profile->has_life_events)
        firefox_write_life_schema(firefox);
    if (profile_metric_event(firefox->profile, PROFILE_OFF_CPU) != PROFILE_NONE)
        firefox_write_wait_schema(firefox);
    json_close(out, ']');
}

void firefox_add_marker_names(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    for (size_t i = 0; i < profile->event_count; i++)
        text_table_add(&firefox->texts, profile_text(profile, profile->events[i].name));
    for (size_t i = 0; i < firefox->life_count; i++)
        text_table_add(&firefox->texts, firefox_life_name(firefox, &firefox->lives[i]));
    text_table_add(&firefox->texts, "Waiting");
    text_table_add(&firefox->texts, "Runnable");
}

/* One of the three; the others are NULL. */
struct marker {
    const struct profile_sample *sample;
    const struct firefox_life *life;
    const struct profile_wait *wait;
    uint64_t time_ns;
};

/* All three, merged by time: the order of the front-end's list. */
struct marked {
    struct profile_by_time samples;
    const struct profile_sample *sample; /* the next one; NULL: none */
    const struct firefox_life *life, *life_end;
    struct profile_waits waits;
    struct profile_wait wait;
    bool has_wait;
};

static void open_marked(struct firefox *firefox, uint32_t thread, struct marked *marked)
{
    size_t count = 0;
    *marked = (struct marked){0};
    if (thread >= firefox->profile->thread_count)
        return;
    if (profile_by_time_open_thread(&marked->samples, firefox->profile, thread, is_marked) != 0)
        firefox->texts.failed = true;
    marked->sample = profile_by_time_next(&marked->samples);
    marked->life = firefox_lives_of(firefox, thread, &count);
    marked->life_end = marked->life + count;
    marked->waits = profile_waits_of(firefox->profile, thread);
    marked->has_wait = firefox_next_long_wait(firefox, &marked->waits, &marked->wait);
}

/* False: no marker is left. */
static bool peek(const struct marked *marked, struct marker *marker)
{
    *marker = (struct marker){.time_ns = UINT64_MAX};
    if (marked->sample)
        *marker = (struct marker){.sample = marked->sample, .time_ns = marked->sample->time_ns};
    if (marked->has_wait && marked->wait.start_ns <= marker->time_ns)
        *marker = (struct marker){.wait = &marked->wait, .time_ns = marked->wait.start_ns};
    if (marked->life != marked->life_end && marked->life->time_ns <= marker->time_ns)
        *marker = (struct marker){.life = marked->life, .time_ns = marked->life->time_ns};
    return marker->sample || marker->wait || marker->life;
}

static void advance(const struct firefox *firefox, struct marked *marked,
                    const struct marker *marker)
{
    if (marker->life)
        marked->life++;
    else if (marker->wait)
        marked->has_wait = firefox_next_long_wait(firefox, &marked->waits, &marked->wait);
    else
        marked->sample = profile_by_time_next(&marked->samples);
}

static void write_data(struct firefox *firefox, const struct marker *marker)
{
    const struct profile_sample *sample = marker->sample;
    if (marker->life) {
        firefox_write_life(firefox, marker->life);
        return;
    }
    if (marker->wait) {
        firefox_write_wait(firefox, marker->wait);
        return;
    }
    const struct profile_thread *of = firefox_thread_of_sample(firefox, sample);
    if (of) {
        firefox_write_life_call(firefox, of, sample);
        return;
    }
    json_open(firefox->out, '{');
    json_member_string(firefox->out, "type", type);
    json_member_unsigned(firefox->out, "count", sample->weight);
    firefox_member_cause(firefox, sample);
    json_close(firefox->out, '}');
}

static void write_name(struct firefox *firefox, const struct marker *marker)
{
    const struct profile *profile = firefox->profile;
    if (marker->wait) {
        json_unsigned(firefox->out, firefox_wait_name(firefox, marker->wait));
        return;
    }
    const char *name = marker->life
                           ? firefox_life_name(firefox, marker->life)
                           : profile_text(profile, profile->events[marker->sample->event].name);
    json_unsigned(firefox->out, text_table_add(&firefox->texts, name));
}

static void write_time(struct firefox *firefox, uint64_t time_ns)
{
    uint64_t start_ns = firefox->profile->start_ns;
    json_millionths(firefox->out, time_ns > start_ns ? time_ns - start_ns : 0);
}

static void write_start(struct firefox *firefox, const struct marker *marker)
{
    write_time(firefox, marker->time_ns);
}

/* Of an instant: 0. */
static void write_end(struct firefox *firefox, const struct marker *marker)
{
    if (marker->wait)
        write_time(firefox, profile_wait_end(marker->wait));
    else
        json_unsigned(firefox->out, 0);
}

static void write_phase(struct firefox *firefox, const struct marker *marker)
{
    enum { INSTANT, INTERVAL };
    json_unsigned(firefox->out, marker->wait ? INTERVAL : INSTANT);
}

static void write_category(struct firefox *firefox, const struct marker *marker)
{
    json_unsigned(firefox->out,
                  marker->wait ? firefox_category_of_wait(firefox, marker->wait) : FIREFOX_OTHER);
}

/* Calls `write`, unless NULL, for each marker; returns their number. */
static size_t for_each(struct firefox *firefox, uint32_t thread,
                       void (*write)(struct firefox *, const struct marker *))
{
    struct marked marked;
    struct marker marker;
    size_t count = 0;
    open_marked(firefox, thread, &marked);
    for (; peek(&marked, &marker); advance(firefox, &marked, &marker), count++)
        if (write)
            write(firefox, &marker);
    profile_by_time_close(&marked.samples);
    return count;
}

static void write_column(struct firefox *firefox, uint32_t thread, const char *key,
                         void (*write)(struct firefox *, const struct marker *))
{
    json_key(firefox->out, key);
    json_open(firefox->out, '[');
    for_each(firefox, thread, write);
    json_close(firefox->out, ']');
}

void firefox_write_markers(struct firefox *firefox, uint32_t thread)
{
    json_key(firefox->out, "markers");
    json_open(firefox->out, '{');
    json_member_unsigned(firefox->out, "length", for_each(firefox, thread, NULL));
    write_column(firefox, thread, "data", write_data);
    write_column(firefox, thread, "name", write_name);
    write_column(firefox, thread, "startTime", write_start);
    write_column(firefox, thread, "endTime", write_end);
    write_column(firefox, thread, "phase", write_phase);
    write_column(firefox, thread, "category", write_category);
    json_close(firefox->out, '}');
}
