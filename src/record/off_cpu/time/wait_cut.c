/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/time/wait_cut.h"

#define SECOND_NS UINT64_C(1000000000)

struct wait_cut wait_cut_begin(const struct wait_ticks *ticks, uint64_t start_ns)
{
    return (struct wait_cut){.start_ns = start_ns,
                             .first = wait_tick_from(ticks, start_ns),
                             .next = 1,
                             .at_ns = start_ns};
}

void wait_cut_change(struct wait_cut *cut, const struct wait_ticks *ticks)
{
    cut->first = wait_tick_from(ticks, cut->at_ns);
    cut->next = 1;
}

static uint64_t ticks_until(const struct wait_cut *cut, const struct wait_ticks *ticks,
                            uint64_t end_ns)
{
    uint64_t end = wait_tick_from(ticks, end_ns);
    return end > cut->first ? end - cut->first : 0;
}

bool wait_is_long(const struct wait_cut *cut, const struct wait_ticks *ticks, uint64_t end_ns)
{
    return cut->at_ns > cut->start_ns || ticks_until(cut, ticks, end_ns) >= 2;
}

/* Ticks up to the next cut. */
static uint64_t span(const struct wait_cut *cut, const struct wait_ticks *ticks)
{
    uint64_t second = SECOND_NS / ticks->interval_ns;
    return cut->next < ticks->single_cuts || second == 0 ? 1 : second;
}

bool wait_cut_next(struct wait_cut *cut, const struct wait_ticks *ticks, uint64_t until_ns,
                   bool is_over, struct wait_piece *piece)
{
    uint64_t cut_ns = wait_tick_ns(ticks, cut->first + cut->next);
    piece->start_ns = cut->at_ns;
    if (cut_ns < until_ns) {
        cut->next += span(cut, ticks);
        cut->at_ns = piece->end_ns = cut_ns;
        return true;
    }
    piece->end_ns = until_ns;
    if (!is_over || until_ns <= cut->at_ns)
        return false;
    cut->at_ns = until_ns;
    return true;
}
