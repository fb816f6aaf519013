/* SPDX-License-Identifier: MIT */
/* The time of a round of the collector's loop. Used by the collector thread only. */
#pragma once

#include "record/sample/tsc_clock.h"

#include <stdbool.h>
#include <stdint.h>

struct round {
    struct tsc_clock clock;
    uint64_t now_ns;  /* CLOCK_MONOTONIC at the start of this round */
    uint64_t last_ns; /* of the round before */
    bool is_quiet;    /* no samples: the delay (--delay) has not passed, or --off-cpu-only */
};

void round_start(struct round *round);
void round_begin(struct round *round);

/* Start of the recording; no event is older. */
uint64_t round_first_ns(const struct round *round);

/* Time of an event in a ring, clamped to the range from the recording's start to now: ring contents
 * are not trusted. */
uint64_t round_time_ns(const struct round *round, uint64_t ticks);
