/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/cpu_excess.h"

void cpu_excess_set_base(struct cpu_excess *excess, uint64_t cpu_ns, uint64_t turns, uint64_t on_ns)
{
    *excess = (struct cpu_excess){
        .has_base = true, .base_ns = (int64_t)cpu_ns - (int64_t)on_ns, .base_turns = turns};
}

uint64_t cpu_excess_turns(const struct cpu_excess *excess)
{
    return excess->base_turns + excess->read_turns + excess->turns;
}

uint64_t cpu_excess_turns_ahead(const struct cpu_excess *excess, uint64_t turns)
{
    uint64_t expected = cpu_excess_turns(excess);
    return excess->has_base && turns > expected ? turns - expected : 0;
}

int64_t cpu_excess_take(struct cpu_excess *excess, uint64_t cpu_ns, uint64_t turns, uint64_t on_ns)
{
    uint64_t expected = cpu_excess_turns(excess);
    if (!excess->has_base || turns < expected) /* the account of the base had later turns */
        cpu_excess_set_base(excess, cpu_ns, turns, on_ns);
    else if (turns > expected)
        return 0;
    excess->read_turns += excess->turns;
    excess->turns = 0;
    int64_t new_ns = (int64_t)cpu_ns - (int64_t)on_ns - excess->base_ns - excess->taken_ns;
    excess->taken_ns += new_ns;
    return new_ns;
}

int64_t cpu_excess_estimate(const struct cpu_excess *excess)
{
    if (excess->read_turns == 0 || excess->taken_ns <= 0)
        return 0;
    int64_t mean_ns = excess->taken_ns / (int64_t)excess->read_turns;
    uint64_t turns = excess->turns < excess->read_turns ? excess->turns : excess->read_turns;
    return (mean_ns < CPU_EXCESS_MAX_NS ? mean_ns : CPU_EXCESS_MAX_NS) * (int64_t)turns;
}
