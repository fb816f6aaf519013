/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/switch_storm.h"

enum {
    SWITCH_COST_NS = 1100,
    EVENT_COST_NS = 1700, /* start and end of a thread with one more inherited event */
    RECORDS_OF_SWITCH = 2,
    COST_PARTS = 33,
};

static uint64_t rate(uint64_t number, uint64_t length_ns)
{
    return (uint64_t)((double)number * 1e9 / (double)length_ns);
}

struct storm_rates switch_storm_find(struct switch_storm *window, const struct switch_storm *now,
                                     size_t events)
{
    uint64_t switches = (now->records - window->records) / RECORDS_OF_SWITCH;
    uint64_t starts = now->starts - window->starts;
    uint64_t length_ns = now->begin_ns - window->begin_ns, used_ns = now->on_ns - window->on_ns;
    *window = *now;
    if (used_ns < length_ns)
        used_ns = length_ns;
    if (switches * SWITCH_COST_NS + starts * events * EVENT_COST_NS <= used_ns / COST_PARTS)
        return (struct storm_rates){0};
    return (struct storm_rates){rate(switches, length_ns), rate(starts, length_ns)};
}
