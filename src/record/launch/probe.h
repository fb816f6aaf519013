/* SPDX-License-Identifier: MIT */
/* Abilities of this machine and user, found without a recording: for `rec doctor` and `rec
 * list`. */
#pragma once

#include "base/text/error.h"

#include <stdbool.h>
#include <stdint.h>

struct record_probe {
    bool perf_trap;
    char perf_trap_reason[320]; /* why not */
    bool perf_ring;
    char perf_ring_reason[320]; /* why not */
    bool timer;
    char timer_reason[80];   /* why not */
    uint32_t tick_hz;        /* limits the timer engine's rate */
    uint32_t rate_limit;     /* kernel.perf_event_max_sample_rate, for perf-trap; 0: unknown */
    int perf_event_paranoid; /* -2: cannot be read */
    bool kernel_stacks;
    struct error kernel_reason; /* why not */
};
void record_probe(struct record_probe *probe);
