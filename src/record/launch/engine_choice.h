/* SPDX-License-Identifier: MIT */
/* Engine and frequency of a recorded command, by the options and what the kernel permits. */
#pragma once

#include "base/text/error.h"
#include "record/options.h"
#include "record/summary.h"

#include <stdbool.h>
#include <stdint.h>

struct engine_choice {
    bool is_outside; /* the command is recorded by perf-ring, without the sampler */
    int probe_fd;    /* keeps the kernel's perf machinery switched on; -1: not permitted; owned */
};

/* perf-trap if available, else the timer. A requested engine is never replaced silently.
 * takes_ring: the program takes no sampler. Engine and reason go into the summary. 0 or a negative
 * errno. */
int engine_choose(struct engine_choice *choice, const struct record_options *options,
                  bool takes_ring, struct record_summary *summary, struct error *error);

/* Samples dropped by the kernel would look like time in the kernel: reduces the frequency, and
 * reports the limit. */
uint32_t engine_choose_frequency(struct record_summary *summary);
