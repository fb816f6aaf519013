/* SPDX-License-Identifier: MIT */
/*
 * scribbles SECONDS [SEED]: a hostile member of a recording. Writes chosen and random values over all
 * memory of the recording that is writable here: the requests of all starting processes, and the own
 * rings.
 */
#include "burn.h"
#include "rings.h"
#include "wire/atomic.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *seed >> 16;
}

/* Each state that a process may wait for, and each descriptor that the launcher may open. */
static void forge(struct join_request *request, uint64_t *seed)
{
    uint64_t random = next_random(seed);
    if (random % 4 == 0)
        store_relaxed(&request->pid, (uint32_t)(random >> 8) % 4096);
    if (random % 4 == 1)
        store_relaxed(&request->memory_fd, (uint32_t)(random >> 8) % 16);
    if (random % 4 == 2)
        store_relaxed(&request->memory_inode, random >> 8);
    store_release(&request->state, (uint32_t)(random >> 4) % 8);
}

static void forge_requests(struct requests *requests, uint64_t *seed)
{
    for (uint32_t i = 0; i < 256; i++)
        forge(&requests->requests[i], seed);
    store_relaxed(&requests->used, (uint32_t)next_random(seed));
    add_release(&requests->doorbell, 1);
    syscall(SYS_futex, &requests->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Places behind the ring's end, and random values over slots and rings. */
static void spoil(struct process_memory *memory, uint64_t *seed)
{
    struct ring_control *control = &memory->threads[next_random(seed) % 4].control;
    uint64_t head = UINT64_C(8) << 20, back = 1 + next_random(seed) % 8;
    store_relaxed(&control->head, head);
    store_relaxed(&control->base, head - (SESSION_RING_BYTES - back));
    uint64_t *words = (uint64_t *)(void *)memory;
    for (int i = 0; i < 64; i++) {
        uint64_t at = next_random(seed) % (SESSION_FIRST_BYTES / 8);
        store_relaxed(&words[at], next_random(seed) << (next_random(seed) % 48));
    }
    memory->process.threads_started++;
}

int main(int argc, char **argv)
{
    struct process_memory *memory = find_shared(SESSION_MEMORY_NAME);
    struct requests *requests = find_shared("rec-requests");
    if (!memory || !requests || argc < 2)
        return 2;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t end_ns =
        burn_clock_ns(CLOCK_MONOTONIC) + strtoull(argv[1], NULL, 10) * UINT64_C(1000000000);
    while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        forge_requests(requests, &seed);
        for (int i = 0; i < 100; i++)
            spoil(memory, &seed);
    }
    _exit(0);
}
