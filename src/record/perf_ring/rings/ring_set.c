/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/rings/ring_set.h"

#include "record/procfs/processors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Of all rings together, and of one: a second of samples at 999 Hz; 60 ms of page faults; 5000
 * mappings. The kernel clears the memory, 0.2 ms a MiB, and wakes the reader when one of the parts
 * is new: a small ring is full 0.7 ms after the begin of a burst. */
static const struct {
    uint64_t all_bytes, most_bytes;
    uint32_t wakeup_parts;
} rooms[] = {
    [RING_TASKS] = {UINT64_C(8) << 20, UINT64_C(1) << 20, 4},
    [RING_SAMPLES] = {UINT64_C(64) << 20, UINT64_C(16) << 20, 4},
    [RING_BURSTS] = {UINT64_C(256) << 20, UINT64_C(64) << 20, 16},
};
#define RING_BYTES_MIN (UINT64_C(256) << 10)
/* Next to bursts: a clock has 999 samples a second, and a burst 300 000. */
enum { CLOCK_PARTS = 8 };

/* Halves the largest ring until all of them fit: the size of a ring is a power of two. */
static size_t choose_bytes(size_t rings, enum ring_load load)
{
    uint64_t bytes = rooms[load].most_bytes;
    while (bytes > RING_BYTES_MIN && bytes * rings > rooms[load].all_bytes)
        bytes /= 2;
    return (size_t)bytes;
}

static bool is_clock(const struct ring_demand *demand, size_t event)
{
    return demand->load == RING_BURSTS && (demand->clocks >> event & 1);
}

static size_t bytes_of(const struct ring_demand *demand, size_t event, size_t bytes)
{
    size_t part = bytes / CLOCK_PARTS;
    return !is_clock(demand, event) ? bytes : part > RING_BYTES_MIN ? part : RING_BYTES_MIN;
}

static void close_rings(struct ring_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        kernel_ring_close(&set->rings[i]);
    set->count = 0;
}

/* -EPERM, -ENOMEM: locked memory is short. A smaller ring may be the last one with memory. */
static int open_ring(struct ring_set *set, const struct ring_demand *demand, uint32_t processor,
                     size_t event, size_t bytes)
{
    struct kernel_ring *ring = &set->rings[set->count];
    const size_t wanted = bytes_of(demand, event, bytes);
    int err = kernel_ring_open(ring, processor, wanted, wanted / rooms[demand->load].wakeup_parts);
    if (err)
        return err;
    ring->event = (uint32_t)event;
    set->count++;
    set->is_short |= ring->data_bytes < wanted;
    return ring->data_bytes < wanted && bytes > RING_BYTES_MIN ? -ENOMEM : 0;
}

/* For each event one on each of `count` processors. */
static int open_rings(struct ring_set *set, const struct ring_demand *demand,
                      const uint32_t *processors, size_t count, size_t bytes)
{
    int err = 0;
    for (size_t i = 0; err == 0 && i < count * demand->events; i++)
        err = open_ring(set, demand, processors[i % count], i / count, bytes);
    return err;
}

/* A shortage of locked memory halves the rings of all processors: the opening starts again. */
int ring_set_open(struct ring_set *set, const struct ring_demand *demand)
{
    uint32_t list[PROCESSORS_MAX];
    size_t count = processors_list(demand->processors, list, PROCESSORS_MAX);
    size_t rings = count * demand->events, bytes = choose_bytes(rings, demand->load);
    *set = (struct ring_set){.rings = calloc(rings ? rings : 1, sizeof(*set->rings)),
                             .demand = *demand};
    if (!set->rings)
        return -ENOMEM;
    int err = count == 0 ? -ENOENT : open_rings(set, demand, list, count, bytes);
    while ((err == -EPERM || err == -ENOMEM) && bytes > RING_BYTES_MIN) {
        set->is_short = true;
        close_rings(set);
        bytes /= 2;
        err = open_rings(set, demand, list, count, bytes);
    }
    return err;
}

void ring_set_close(struct ring_set *set)
{
    close_rings(set);
    free(set->rings);
    *set = (struct ring_set){.rings = NULL};
}

size_t ring_set_ring_bytes(const struct ring_set *set)
{
    size_t smallest_bytes = SIZE_MAX, smallest_clock_bytes = SIZE_MAX;
    for (size_t i = 0; i < set->count; i++) {
        size_t *smallest =
            is_clock(&set->demand, set->rings[i].event) ? &smallest_clock_bytes : &smallest_bytes;
        if (set->rings[i].data_bytes < *smallest)
            *smallest = set->rings[i].data_bytes;
    }
    return smallest_bytes != SIZE_MAX ? smallest_bytes : smallest_clock_bytes;
}
