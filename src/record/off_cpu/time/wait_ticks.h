/* SPDX-License-Identifier: MIT */
/*
 * The ticks at which waiting threads are looked at: one in each interval, at a random place. A
 * program with a timer of the same interval would march in step with a fixed grid.
 *
 *     │  ·     │      · │ ·      │     ·  │
 *     0        T        2T       3T             tick i: i * T + hash(i) % T
 *
 * Tick times are arithmetic: the ticks inside of a wait are known whether or not rec had a
 * processor then.
 */
#pragma once

#include <stdint.h>

struct wait_ticks {
    uint64_t interval_ns; /* not 0 */
    uint64_t seed;
    uint64_t single_cuts; /* samples of a long wait that stand for one tick each */
};

/* CLOCK_MONOTONIC of a tick. */
uint64_t wait_tick_ns(const struct wait_ticks *ticks, uint64_t number);

/* The number of the first tick at this time or later. */
uint64_t wait_tick_from(const struct wait_ticks *ticks, uint64_t time_ns);
