/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/cpu_excess.h"

int64_t cpu_excess_take(struct cpu_excess *excess, uint64_t cpu_ns, uint64_t on_ns)
{
    int64_t difference_ns = (int64_t)cpu_ns - (int64_t)on_ns;
    if (excess->has_base)
        excess->read_turns += excess->turns;
    else
        *excess = (struct cpu_excess){.has_base = true, .base_ns = difference_ns};
    excess->turns = 0;
    int64_t new_ns = difference_ns - excess->base_ns - excess->taken_ns;
    excess->taken_ns += new_ns;
    return new_ns;
}

int64_t cpu_excess_estimate(const struct cpu_excess *excess)
{
    if (excess->read_turns == 0 || excess->taken_ns <= 0)
        return 0;
    int64_t mean_ns = excess->taken_ns / (int64_t)excess->read_turns;
    return (mean_ns < CPU_EXCESS_MAX_NS ? mean_ns : CPU_EXCESS_MAX_NS) * (int64_t)excess->turns;
}
