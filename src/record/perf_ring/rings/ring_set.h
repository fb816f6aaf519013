/* SPDX-License-Identifier: MIT */
/* The kernel rings of a recording: one for each event and processor, within the locked memory that
 * the user may have. */
#pragma once

#include "record/perf_ring/rings/kernel_ring.h"

#include <stdbool.h>
#include <stddef.h>

struct ring_set {
    struct kernel_ring *rings; /* owned; the first event first */
    size_t count;
    bool is_short; /* the rings are smaller than wanted: the locked memory is limited */
};

/* What the rings have room for. */
enum ring_load {
    RING_TASKS,   /* starts of tasks, and mappings: no samples */
    RING_SAMPLES, /* samples of a clock */
    RING_BURSTS,  /* of events that come as fast as the program can make them */
};

/* processors: "0-3,6"; NULL: all. 0 or a negative errno; ring_set_close() in any case. */
int ring_set_open(struct ring_set *set, const char *processors, size_t events, enum ring_load load);
void ring_set_close(struct ring_set *set);

/* The smallest ring. */
size_t ring_set_ring_bytes(const struct ring_set *set);
