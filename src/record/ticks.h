/* SPDX-License-Identifier: MIT */
/*
 * The sampler's clock and what it means. Handlers read the processor's counter, which costs no system
 * call; the launcher reads both clocks at every drain and converts by linear interpolation between the
 * two readings around a sample. So nothing is assumed of the counter but that it grows evenly between two
 * drains, and that all processors agree.
 */
#pragma once

#include "base/clock.h"

#include <stdint.h>

struct ticks_anchor {
    uint64_t ticks;
    uint64_t ns; /* CLOCK_MONOTONIC */
};

struct ticks_clock {
    struct ticks_anchor first, previous, latest;
};

uint64_t ticks_now(void);

/* Measured once, over a fifth of a millisecond. */
uint64_t ticks_per_second(void);

void ticks_clock_start(struct ticks_clock *clock);
/* Takes another reading; returns its time. */
uint64_t ticks_clock_advance(struct ticks_clock *clock);

uint64_t ticks_to_ns(const struct ticks_clock *clock, uint64_t ticks);
/* A span, not an instant. */
uint64_t ticks_span_ns(const struct ticks_clock *clock, uint64_t ticks);
