/* SPDX-License-Identifier: MIT */
/*
 * Converts the sampler's clock. Handlers read the processor's counter, without a system call; the
 * launcher reads both clocks at every drain and interpolates linearly between the two readings
 * around a sample. The only assumptions: the counter grows evenly between two drains, and all
 * processors agree.
 */
#pragma once

#include "base/clock.h"

#include <stdint.h>

struct tsc_anchor {
    uint64_t ticks;
    uint64_t ns; /* CLOCK_MONOTONIC */
};

struct tsc_clock {
    struct tsc_anchor first, previous, latest;
};

/* Measured once, over a fifth of a millisecond at least: from tsc_measure() on, so that other work
 * fills this time; without that call, the clocks are read all the time. */
void tsc_measure(void);
uint64_t tsc_per_second(void);

void tsc_clock_start(struct tsc_clock *clock);
/* Takes another reading; returns its time. */
uint64_t tsc_clock_advance(struct tsc_clock *clock);

uint64_t tsc_to_ns(const struct tsc_clock *clock, uint64_t ticks);
/* A span, not an instant. */
uint64_t tsc_span_ns(const struct tsc_clock *clock, uint64_t ticks);
