/* SPDX-License-Identifier: MIT */
/* The kernel rings of a recording: one for each event and processor, within the locked memory that
 * the user may have. */
#pragma once

#include "record/perf_ring/rings/kernel_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the rings have room for. */
enum ring_load {
    RING_TASKS,   /* starts of tasks, and mappings: no samples */
    RING_SAMPLES, /* samples of a clock */
    RING_BURSTS,  /* of events that come as fast as the program can make them */
};

struct ring_demand {
    const char *processors; /* "0-3,6"; NULL: all; borrowed */
    size_t events;
    uint64_t clocks; /* a bit for each event that comes at the rate of a clock */
    enum ring_load load;
};

struct ring_set {
    struct kernel_ring *rings; /* owned; the first event first */
    size_t count;
    struct ring_demand demand;
    bool is_short; /* the rings are smaller than wanted: the locked memory is limited */
};

/* 0 or a negative errno; ring_set_close() in any case. */
int ring_set_open(struct ring_set *set, const struct ring_demand *demand);
void ring_set_close(struct ring_set *set);

/* The smallest ring; next to bursts, rings of clocks are smaller, and do not count. */
size_t ring_set_ring_bytes(const struct ring_set *set);
