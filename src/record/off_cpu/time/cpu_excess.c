/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/cpu_excess.h"

int64_t cpu_excess_take(struct cpu_excess *excess, uint64_t cpu_ns, uint64_t on_ns)
{
    int64_t difference_ns = (int64_t)cpu_ns - (int64_t)on_ns;
    excess->turns = 0;
    if (!excess->has_base) {
        excess->has_base = true;
        excess->base_ns = difference_ns;
        excess->taken_ns = 0;
    }
    int64_t new_ns = difference_ns - excess->base_ns - excess->taken_ns;
    excess->taken_ns += new_ns;
    return new_ns;
}
