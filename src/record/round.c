/* SPDX-License-Identifier: MIT */
#include "record/round.h"

void round_start(struct round *round)
{
    tsc_clock_start(&round->clock);
    round->now_ns = round->clock.first.ns;
}

void round_begin(struct round *round)
{
    round->last_ns = round->now_ns;
    round->now_ns = tsc_clock_advance(&round->clock);
}

uint64_t round_first_ns(const struct round *round)
{
    return round->clock.first.ns;
}

uint64_t round_time_ns(const struct round *round, uint64_t ticks)
{
    uint64_t time_ns = tsc_to_ns(&round->clock, ticks);
    if (time_ns < round->clock.first.ns)
        return round->clock.first.ns;
    if (time_ns <= round->now_ns)
        return time_ns;
    /* A record may be younger than the round. */
    uint64_t now_ns = monotonic_ns();
    return time_ns < now_ns ? time_ns : now_ns;
}
