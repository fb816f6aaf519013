/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/tick_pace.h"

/* Shorter again when a tick takes less than this part of what is permitted. */
enum { LITTLE_PARTS = 4 };

/* due_ns moves on by ten times the cost of each tick. After an idle time it lies behind now, by a
 * burst at most. */
uint64_t tick_pace_take(struct tick_pace *pace, uint64_t now_ns, uint64_t cpu_ns)
{
    const uint64_t burst_ns = (uint64_t)TICK_PACE_BURST_NS * TICK_PACE_PARTS;
    uint64_t cost_ns = cpu_ns - pace->cpu_ns;
    if (pace->due_ns + burst_ns < now_ns)
        pace->due_ns = now_ns - burst_ns;
    pace->due_ns += cost_ns * TICK_PACE_PARTS;
    pace->cpu_ns = cpu_ns;
    pace->window_cpu_ns += cost_ns;
    pace->window_ticks++;
    pace->has_rested |= pace->due_ns > now_ns;
    return pace->due_ns;
}

uint64_t tick_pace_next(struct tick_pace *pace, uint64_t interval_ns)
{
    uint64_t ticks = pace->window_ticks ? pace->window_ticks : 1;
    uint64_t needed_ns = pace->window_cpu_ns / ticks * TICK_PACE_PARTS;
    bool has_rested = pace->has_rested;
    pace->window_cpu_ns = pace->window_ticks = 0;
    pace->has_rested = false;
    if (has_rested && needed_ns > interval_ns && interval_ns < TICK_PACE_MOST_NS)
        return needed_ns < TICK_PACE_MOST_NS ? needed_ns : TICK_PACE_MOST_NS;
    if (needed_ns < interval_ns / LITTLE_PARTS && interval_ns > pace->asked_ns)
        return interval_ns / 2 > pace->asked_ns ? interval_ns / 2 : pace->asked_ns;
    return interval_ns;
}
