/* SPDX-License-Identifier: MIT */
/* scribbles SECONDS: takes all free thread slots of its recording but the last, and overwrites the
 * ring positions of the last with values that put a record behind the ring's end.
 * scribbles SECONDS free: declares all thread slots free. */
#include "burn.h"
#include "rings.h"
#include "wire/atomic.h"

#include <stdlib.h>

#define LAST (SESSION_THREADS - 1)

static void take_free_slots(struct rings *rings)
{
    for (uint32_t i = 0; i < LAST; i++)
        swap_acq_rel(&rings->threads[i].state, THREAD_FREE, THREAD_CLAIMED);
}

/* A place `back` bytes before the end; the ring is not empty, so the sampler keeps its base. */
static void overwrite(struct ring_control *control, uint64_t back)
{
    uint64_t head = UINT64_C(8) << 20;
    store_relaxed(&control->head, head);
    store_relaxed(&control->base, head - (SESSION_RING_BYTES - back));
    store_relaxed(&control->tail, head - 8);
}

static void free_slots(struct rings *rings)
{
    for (uint32_t i = 0; i < SESSION_THREADS; i++)
        store_relaxed(&rings->threads[i].state, THREAD_FREE);
}

int main(int argc, char **argv)
{
    struct rings *rings = find_shared("rec-rings");
    if (!rings || argc < 2)
        return 2;
    uint64_t end_ns =
        burn_clock_ns(CLOCK_MONOTONIC) + strtoull(argv[1], NULL, 10) * UINT64_C(1000000000);
    while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        if (argc > 2) {
            free_slots(rings);
            continue;
        }
        take_free_slots(rings);
        for (uint64_t i = 0; i < 100000; i++)
            overwrite(&rings->controls[LAST], 1 + i % 8);
    }
    return 0;
}
