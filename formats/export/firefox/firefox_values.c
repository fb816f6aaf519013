/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox.h"

#include "export/common.h"

void firefox_member_time(struct firefox *firefox, const char *key, uint64_t time_ns)
{
    uint64_t start_ns = firefox->profile->start_ns;
    json_member_millionths(firefox->out, key, time_ns > start_ns ? time_ns - start_ns : 0);
}

struct profile_event firefox_event_of(const struct profile *profile, uint32_t index)
{
    return index < profile->event_count ? profile->events[index] : profile_main_event(profile);
}

bool firefox_is_cpu_time(const struct profile *profile, uint32_t event)
{
    struct profile_event found = firefox_event_of(profile, event);
    return profile_is_cpu_time(&found);
}

uint64_t firefox_row_period(const struct profile *profile, uint32_t event)
{
    return firefox_is_cpu_time(profile, event) ? export_period(profile, event) : 0;
}

void firefox_member_cause(struct firefox *firefox, const struct profile_sample *sample)
{
    if (sample->stack == PROFILE_NONE)
        return;
    json_key(firefox->out, "cause");
    json_open(firefox->out, '{');
    firefox_member_time(firefox, "time", sample->time_ns);
    json_member_unsigned(firefox->out, "stack", sample->stack);
    json_close(firefox->out, '}');
}
