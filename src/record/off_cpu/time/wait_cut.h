/* SPDX-License-Identifier: MIT */
/*
 * A wait with two ticks or more becomes one sample for each tick, with contiguous intervals:
 *
 *     start      tick     tick     tick        end
 *       ├─────────·────────┼────────┼───────────┤
 *             sample 1     sample 2   sample 3           the sum is the exact length
 *
 * The first tick does not cut: there are as many samples as ticks. Beyond wait_ticks.single_cuts
 * ticks a sample stands for a second: a thousand idle threads would fill the file otherwise.
 */
#pragma once

#include "record/off_cpu/time/wait_ticks.h"

#include <stdbool.h>
#include <stdint.h>

struct wait_cut {
    uint64_t start_ns; /* of the wait */
    uint64_t first;    /* number of the first tick inside */
    uint64_t next;     /* the cut is at the tick first + next */
    uint64_t at_ns;    /* start of the next sample */
};

struct wait_piece {
    uint64_t start_ns, end_ns;
};

struct wait_cut wait_cut_begin(const struct wait_ticks *ticks, uint64_t start_ns);

/* The interval of the ticks has changed: the rest of a wait under way is cut at the new ones. A
 * wait with samples stays a long one. */
void wait_cut_change(struct wait_cut *cut, const struct wait_ticks *ticks);

/* Whether a wait until this time has two ticks or more. */
bool wait_is_long(const struct wait_cut *cut, const struct wait_ticks *ticks, uint64_t end_ns);

/* The next sample of a long wait; is_over: the wait ends at until_ns. False: no more yet. */
bool wait_cut_next(struct wait_cut *cut, const struct wait_ticks *ticks, uint64_t until_ns,
                   bool is_over, struct wait_piece *piece);
