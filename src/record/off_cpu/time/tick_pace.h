/* SPDX-License-Identifier: MIT */
/*
 * Bounds the CPU time of looks: one part in TICK_PACE_PARTS of a processor, besides a burst, for
 * example at the start of a thousand threads. Ticks within a rest are left out:
 *
 *     tick, cost C                          next tick, at the earliest
 *       ├──────── TICK_PACE_PARTS * C ────────┤
 *
 * Left-out ticks would leave waits of two ticks without a look, so ticks become longer at the end
 * of a window, and shorter again when looks cost less. Pure arithmetic.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { TICK_PACE_PARTS = 10, TICK_PACE_BURST_NS = 500000000 };
/* Longer ticks only on request. */
#define TICK_PACE_MOST_NS UINT64_C(250000000)

struct tick_pace {
    uint64_t asked_ns;      /* the requested interval */
    uint64_t due_ns;        /* no tick before this time */
    uint64_t cpu_ns;        /* of the thread, at the latest tick */
    uint64_t window_cpu_ns; /* since the begin of the window, and ticks since then */
    uint64_t window_ticks;
    bool has_rested; /* in this window */
};

/* A tick at this time has ended; cpu_ns: of the thread so far. No tick is due before the result. */
uint64_t tick_pace_take(struct tick_pace *pace, uint64_t now_ns, uint64_t cpu_ns);

/* Ends the window. The interval of the next one. */
uint64_t tick_pace_next(struct tick_pace *pace, uint64_t interval_ns);
