/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/run_delay.h"

uint64_t run_delay_take(struct run_delay *delay, uint64_t delay_ns, uint64_t preempted_ns)
{
    if (!delay->has_base) {
        delay->has_base = true;
        delay->base_ns = delay_ns > preempted_ns ? delay_ns - preempted_ns : 0;
    }
    uint64_t known_ns = delay->base_ns + preempted_ns + delay->woken_ns;
    uint64_t new_ns = delay_ns > known_ns ? delay_ns - known_ns : 0;
    delay->woken_ns += new_ns;
    return new_ns;
}
