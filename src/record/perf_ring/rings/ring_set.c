/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/rings/ring_set.h"

#include "record/procfs/processors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Of all rings together, and of one: a second of samples at 999 Hz; 60 ms of page faults; 5000
 * mappings. The kernel clears the memory, 0.2 ms a MiB. */
static const struct {
    uint64_t all_bytes, most_bytes;
} rooms[] = {
    [RING_TASKS] = {UINT64_C(8) << 20, UINT64_C(1) << 20},
    [RING_SAMPLES] = {UINT64_C(64) << 20, UINT64_C(16) << 20},
    [RING_BURSTS] = {UINT64_C(256) << 20, UINT64_C(64) << 20},
};
#define RING_BYTES_MIN (UINT64_C(256) << 10)
/* The kernel wakes the reader when this part of a ring is new. */
enum { WAKEUP_PARTS = 4 };

static size_t choose_bytes(size_t rings, enum ring_load load)
{
    uint64_t bytes = rooms[load].most_bytes;
    while (bytes > RING_BYTES_MIN && bytes * rings > rooms[load].all_bytes)
        bytes /= 2;
    return (size_t)bytes;
}

static void close_rings(struct ring_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        kernel_ring_close(&set->rings[i]);
    set->count = 0;
}

/* For each event one on each of `count` processors. */
static int open_rings(struct ring_set *set, const uint32_t *processors, size_t count, size_t rings,
                      size_t bytes)
{
    int err = 0;
    for (size_t i = 0; err == 0 && i < rings; i++) {
        struct kernel_ring *ring = &set->rings[i];
        err = kernel_ring_open(ring, processors[i % count], bytes, bytes / WAKEUP_PARTS);
        ring->event = (uint32_t)(i / count);
        set->count += err == 0;
    }
    return err;
}

/* Where locked memory is short, the first rings take all of it. */
static bool is_short_of_memory(const struct ring_set *set, int err, size_t bytes)
{
    return err == -EPERM || err == -ENOMEM || (err == 0 && ring_set_ring_bytes(set) < bytes);
}

int ring_set_open(struct ring_set *set, const char *processors, size_t events, enum ring_load load)
{
    uint32_t list[PROCESSORS_MAX];
    size_t count = processors_list(processors, list, PROCESSORS_MAX);
    size_t rings = count * events, bytes = choose_bytes(rings, load);
    *set = (struct ring_set){.rings = calloc(rings ? rings : 1, sizeof(*set->rings))};
    if (!set->rings)
        return -ENOMEM;
    int err = count == 0 ? -ENOENT : open_rings(set, list, count, rings, bytes);
    set->is_short = is_short_of_memory(set, err, bytes);
    while (is_short_of_memory(set, err, bytes) && bytes > RING_BYTES_MIN) {
        close_rings(set);
        bytes /= 2;
        err = open_rings(set, list, count, rings, bytes);
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
    size_t smallest_bytes = SIZE_MAX;
    for (size_t i = 0; i < set->count; i++)
        if (set->rings[i].data_bytes < smallest_bytes)
            smallest_bytes = set->rings[i].data_bytes;
    return smallest_bytes;
}
