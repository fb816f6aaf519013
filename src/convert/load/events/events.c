/* SPDX-License-Identifier: MIT */
#include "convert/load/events/events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

int events_init(struct events *events, struct profile *profile,
                const struct perfdata_reader *reader)
{
    size_t count = perfdata_attr_count(reader);
    *events = (struct events){
        .profile = profile, .items = calloc(count + 1, sizeof(*events->items)), .count = count};
    if (!events->items)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        events->items[i] = (struct event){.attr = perfdata_attr(reader, i), .id = PROFILE_NONE};
    return 0;
}

void events_free(struct events *events)
{
    free(events->items);
    *events = (struct events){0};
}

/* Clock events count ns, so their periods are weights in ns as they are. */
static bool is_clock(const struct perfdata_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE &&
           (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool is_off_cpu(const struct perfdata_attr *attr)
{
    return event_role_is_off_cpu(event_role_of(attr));
}

/* Other events in ns have a recorded unit. */
static enum profile_unit unit_of(const struct perfdata_attr *attr)
{
    bool is_time = is_clock(attr) || is_off_cpu(attr) || strcmp(attr->unit, "ns") == 0;
    return is_time ? PROFILE_NANOSECONDS : PROFILE_COUNT;
}

/* Without the bits for the kind of core on hybrid machines. */
static uint64_t counted(const struct perfdata_attr *attr)
{
    return attr->type == PERF_TYPE_HARDWARE ? attr->config & UINT32_MAX : attr->config;
}

static bool is_same(const struct perfdata_attr *a, const struct perfdata_attr *b)
{
    return a->type == PERF_TYPE_HARDWARE && b->type == PERF_TYPE_HARDWARE &&
           counted(a) == counted(b);
}

static uint64_t nominal_period(const struct perfdata_attr *attr)
{
    if (!attr->is_frequency)
        return attr->period_or_frequency;
    return is_clock(attr) && attr->period_or_frequency
               ? UINT64_C(1000000000) / attr->period_or_frequency
               : 0;
}

static uint32_t add_event(struct events *events, const struct perfdata_attr *attr)
{
    if (events->profile->event_count >= UINT16_MAX)
        return PROFILE_NONE;
    const char *name = is_off_cpu(attr) ? EVENTS_OFF_CPU : attr->name;
    struct profile_event event = {
        .name = name ? profile_string(events->profile, name) : PROFILE_NONE,
        .unit = unit_of(attr),
        .is_off_cpu = is_off_cpu(attr),
        .period = nominal_period(attr),
    };
    return profile_add_event(events->profile, &event);
}

uint32_t events_id(struct events *events, struct event *event)
{
    for (size_t i = 0; event->id == PROFILE_NONE && i < events->count; i++)
        if (is_same(event->attr, events->items[i].attr))
            event->id = events->items[i].id;
    if (event->id == PROFILE_NONE)
        event->id = add_event(events, event->attr);
    return event->id;
}

uint64_t event_weight(const struct event *event, const struct perfdata_event *sample)
{
    const struct perfdata_attr *attr = event->attr;
    bool is_written_down =
        sample->count_count || (attr->sample_type & PERF_SAMPLE_PERIOD && sample->period);
    return is_written_down || !is_clock(attr) ? sample->period : nominal_period(attr);
}

/* Tracepoints and context switches are occurrences; all other events count a running program's
 * work. */
static bool counts_work(const struct perfdata_attr *attr)
{
    return attr->type != PERF_TYPE_TRACEPOINT &&
           !(attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES);
}

void events_choose_main(struct events *events, uint32_t off_cpu)
{
    struct profile *profile = events->profile;
    uint32_t first = PROFILE_NONE, clock = PROFILE_NONE, work = PROFILE_NONE;
    if (profile->event_count == 0 && events->count)
        (void)events_id(events, &events->items[0]);
    for (size_t i = events->count; i-- > 0;) {
        uint32_t id = events->items[i].id;
        if (id == PROFILE_NONE)
            continue;
        first = id;
        work = counts_work(events->items[i].attr) ? id : work;
        clock = profile->events[id].unit == PROFILE_NANOSECONDS ? id : clock;
    }
    profile->main_event = clock != PROFILE_NONE     ? clock
                          : work != PROFILE_NONE    ? work
                          : off_cpu != PROFILE_NONE ? off_cpu
                          : first != PROFILE_NONE   ? first
                                                    : 0;
}

static bool has_off_cpu(const struct events *events)
{
    for (size_t i = 0; i < events->count; i++)
        if (is_off_cpu(events->items[i].attr))
            return true;
    return false;
}

void events_add_times(struct events *events, const struct filter *filter)
{
    bool has_clock = false;
    for (size_t i = 0; has_off_cpu(events) && i < events->count; i++) {
        struct event *event = &events->items[i];
        bool is_first_clock = is_clock(event->attr) && !has_clock;
        has_clock |= is_clock(event->attr);
        if ((is_first_clock || is_off_cpu(event->attr)) && event_is_wanted(event, filter))
            (void)events_id(events, event);
    }
}

bool event_is_wanted(const struct event *event, const struct filter *filter)
{
    return filter_accepts_event(filter, event->attr->name ? event->attr->name : "") ||
           (is_off_cpu(event->attr) && filter_accepts_event(filter, EVENTS_OFF_CPU));
}
