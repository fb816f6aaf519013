/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/run_delay.h"

int64_t run_delay_take(struct run_delay *delay, uint64_t delay_ns, uint64_t preempted_ns)
{
    int64_t difference_ns = (int64_t)delay_ns - (int64_t)preempted_ns;
    if (!delay->has_base)
        *delay = (struct run_delay){.has_base = true, .base_ns = difference_ns};
    int64_t new_ns = difference_ns - delay->base_ns - delay->woken_ns;
    delay->woken_ns += new_ns;
    return new_ns;
}

int64_t run_delay_turn(struct run_delay *delay, uint64_t preempted_ns)
{
    bool is_whole = delay->turns_ahead == 1;
    delay->turns_ahead -= delay->turns_ahead > 0;
    return is_whole ? run_delay_take(delay, delay->ahead_ns, preempted_ns) : 0;
}
