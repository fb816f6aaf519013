/* SPDX-License-Identifier: MIT */
#include "profile/metric.h"

#include "profile/walk.h"

#include <errno.h>

static const char *const names[PROFILE_METRICS] = {
    [PROFILE_CPU] = "cpu", [PROFILE_OFF_CPU] = "off-cpu", [PROFILE_WALL] = PROFILE_WALL_NAME};

const char *profile_metric_name(enum profile_metric metric)
{
    return names[metric];
}

static bool fits(const struct profile_event *event, enum profile_metric metric)
{
    return metric == PROFILE_CPU       ? profile_is_cpu_time(event)
           : metric == PROFILE_OFF_CPU ? event->is_off_cpu
           : metric == PROFILE_WALL    ? event->is_wall
                                       : false;
}

uint32_t profile_metric_event(const struct profile *profile, enum profile_metric metric)
{
    uint32_t main_event = profile->main_event;
    if (main_event < profile->event_count &&
        (metric == PROFILE_MAIN_EVENT || fits(&profile->events[main_event], metric)))
        return main_event;
    for (uint32_t i = 0; i < profile->event_count; i++)
        if (fits(&profile->events[i], metric))
            return i;
    return PROFILE_NONE;
}

static int add(struct profile *profile, const struct profile_sample *sample, uint32_t event)
{
    struct profile_sample added = *sample;
    added.event = (uint16_t)event;
    return profile_add_sample(profile, &added);
}

/* The reader points to the bytes of the list, not to the list: these stay in place while `lists`
 * grows, and samples of another event do not change them. */
static int copy_list(struct profile *profile, uint32_t index, uint32_t wall)
{
    struct sample_reader reader = profile_read_list(&profile->lists[index]);
    int err = 0;
    while (err == 0 && sample_reader_next(&reader))
        err = add(profile, &reader.sample, wall);
    return err;
}

/* The wall-clock event repeats the samples of two others: a thread's CPU time and its time off the
 * CPU. */
static int add_wall(struct profile *profile)
{
    uint32_t cpu = profile_metric_event(profile, PROFILE_CPU);
    uint32_t off_cpu = profile_metric_event(profile, PROFILE_OFF_CPU);
    const struct profile_event event = {.name = profile_string(profile, PROFILE_WALL_NAME),
                                        .unit = PROFILE_NANOSECONDS,
                                        .is_wall = true};
    uint32_t wall =
        profile->event_count < UINT16_MAX ? profile_add_event(profile, &event) : PROFILE_NONE;
    if (wall == PROFILE_NONE)
        return -ENOMEM;
    size_t count = profile->list_count, samples = profile->sample_count;
    int err = 0;
    for (uint32_t i = 0; i < count && err == 0; i++)
        if (profile->lists[i].event == cpu || profile->lists[i].event == off_cpu)
            err = copy_list(profile, i, wall);
    profile->sample_count = samples; /* the samples are not new */
    return err ? err : profile_finish_samples(profile);
}

int profile_set_metric(struct profile *profile, enum profile_metric metric)
{
    if (metric == PROFILE_MAIN_EVENT)
        return 0;
    int err = 0;
    if (metric == PROFILE_WALL && profile_metric_event(profile, PROFILE_WALL) == PROFILE_NONE &&
        profile_metric_event(profile, PROFILE_OFF_CPU) != PROFILE_NONE)
        err = add_wall(profile);
    uint32_t event = profile_metric_event(profile, metric);
    if (err == 0 && event == PROFILE_NONE)
        err = -ENOENT;
    if (err == 0)
        profile->main_event = event;
    return err;
}
