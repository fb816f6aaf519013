/* SPDX-License-Identifier: MIT */
#include "cli/terminal/weight.h"

static bool is_time(const struct profile *profile)
{
    return profile_main_event(profile).unit == PROFILE_NANOSECONDS;
}

struct formatted weight_format(const struct profile *profile, uint64_t weight)
{
    return is_time(profile) ? format_duration(weight) : format_count(weight);
}

const char *weight_noun(const struct profile *profile)
{
    struct profile_event event = profile_main_event(profile);
    if (event.is_off_cpu)
        return "off CPU";
    if (event.is_wall)
        return "wall time";
    return is_time(profile) ? "CPU" : profile_text(profile, event.name);
}

const char *weight_time_name(const struct profile *profile)
{
    struct profile_event event = profile_main_event(profile);
    if (!is_time(profile))
        return NULL;
    return event.is_off_cpu ? "off-CPU time" : event.is_wall ? "wall time" : "CPU time";
}

const char *weight_key(const struct profile *profile, const char *as_ns, const char *as_count)
{
    return is_time(profile) ? as_ns : as_count;
}
