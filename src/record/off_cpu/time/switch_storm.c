/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/switch_storm.h"

enum { SWITCH_COST_NS = 1100, RECORDS_OF_SWITCH = 2, COST_PARTS = 33 };

uint64_t switch_storm_find(struct switch_storm *window, uint64_t now_ns, uint64_t records,
                           uint64_t on_ns)
{
    uint64_t switches = (records - window->records) / RECORDS_OF_SWITCH;
    uint64_t length_ns = now_ns - window->begin_ns, used_ns = on_ns - window->on_ns;
    *window = (struct switch_storm){now_ns, records, on_ns};
    if (used_ns < length_ns)
        used_ns = length_ns;
    if (switches * SWITCH_COST_NS <= used_ns / COST_PARTS)
        return 0;
    return (uint64_t)((double)switches * 1e9 / (double)length_ns);
}
