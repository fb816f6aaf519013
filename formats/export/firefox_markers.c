/* SPDX-License-Identifier: MIT */
/*
 * Samples of events that count something else than time, as markers on their thread: where on the time
 * line it happened, how much, and the stack. Threads without any sample of the main event have no row for
 * markers; theirs are only the rows of the event itself.
 */
#include "export/firefox.h"

#include <errno.h>
#include <stdlib.h>

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

static void
write_column(struct firefox *firefox, const struct firefox_markers *markers, const char *key,
             void (*write)(struct firefox *firefox, const struct profile_sample *sample))
{
    json_key(firefox->out, key);
    json_open(firefox->out, '[');
    for (size_t i = 0; i < markers->count; i++)
        write(firefox, &firefox->profile->samples[markers->samples[i]]);
    json_close(firefox->out, ']');
}

void firefox_write_markers(struct firefox *firefox, struct firefox_markers markers)
{
    json_key(firefox->out, "markers");
    json_open(firefox->out, '{');
    json_member_unsigned(firefox->out, "length", markers.count);
    write_column(firefox, &markers, "data", write_data);
    write_column(firefox, &markers, "name", write_name);
    write_column(firefox, &markers, "startTime", write_start);
    write_column(firefox, &markers, "endTime", write_zero);
    write_column(firefox, &markers, "phase", write_zero);
    write_column(firefox, &markers, "category", write_zero);
    json_close(firefox->out, '}');
}

/* All samples to be marked, by thread: counted, then put in place. */
int firefox_sort_markers(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    size_t *starts = calloc(profile->thread_count + 2, sizeof(*starts));
    uint32_t *samples = calloc(profile->sample_count + 1, sizeof(*samples));
    firefox->marker_starts = starts;
    firefox->marker_samples = samples;
    if (!starts || !samples)
        return -ENOMEM;
    for (size_t i = 0; i < profile->sample_count; i++)
        if (is_marked(profile, profile->samples[i].event))
            starts[profile->samples[i].thread + 2]++;
    for (size_t i = 2; i < profile->thread_count + 2; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < profile->sample_count; i++)
        if (is_marked(profile, profile->samples[i].event))
            samples[starts[profile->samples[i].thread + 1]++] = (uint32_t)i;
    return 0;
}

struct firefox_markers firefox_markers_of(const struct firefox *firefox, uint32_t thread)
{
    size_t start = firefox->marker_starts[thread];
    return (struct firefox_markers){firefox->marker_samples + start,
                                    firefox->marker_starts[thread + 1] - start};
}
