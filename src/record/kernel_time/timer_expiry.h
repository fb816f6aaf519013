/* SPDX-License-Identifier: MIT */
/*
 * Kernel samples by the sampler's own timer. The kernel runs it in user and in kernel code, and the
 * sampler's event is for user code alone. A tracepoint at each expiry has the kernel's stack:
 *
 *     CPU time       user ─────────── kernel ─────────── user ────────
 *     timer          ▲                ▲                  ▲
 *     sampler        signal           │                  signal
 *     tracepoint     of user code     interrupted stack  of user code
 *
 * A timer of its own would cost a program as much as the sampler's: in virtual machines 19 us for
 * each expiry. Timers of other perf events on the thread expire at this tracepoint, too.
 */
#pragma once

#include "record/events/event_request.h"
#include "record/kernel_time/signal_delivery.h"

#include <stdbool.h>

enum { TIMER_EXPIRY_EVENTS = 2 };

struct timer_expiry {
    /* By kernel_ring.event; all the same. */
    struct event_request requests[TIMER_EXPIRY_EVENTS];
    char filter[64]; /* of the tracepoint: timers of clock events */
};

/* False: no tracepoint, or the interrupt of timers has frames that are unknown here. */
bool timer_expiry_find(struct timer_expiry *expiry, const struct signal_delivery *delivery);
