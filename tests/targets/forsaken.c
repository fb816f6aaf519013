/* SPDX-License-Identifier: MIT */
/* forsaken: works until its parent has died, and waits for eleven seconds; then says how many records its sampler
 * wanted to write in half a second of CPU time, how many signals it left at that, and how often the kernel's clock
 * ticked. */
#include "burn.h"
#include "rings.h"

#include <stdio.h>
#include <unistd.h>

static const struct thread_slot *find_own_slot(const struct process_memory *memory)
{
    for (unsigned i = 0; memory && i < SESSION_FIRST_RINGS; i++) {
        const struct thread_slot *slot = &memory->threads[i].slot;
        if (slot->state == THREAD_ACTIVE && slot->tid == (uint32_t)gettid())
            return slot;
    }
    return NULL;
}

int main(void)
{
    pid_t parent = getppid();
    struct timespec tick;
    const struct thread_slot *slot = find_own_slot(find_shared("rec-rings"));
    if (!slot || clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0)
        return 1;
    puts("started");
    fflush(stdout);
    while (getppid() == parent)
        burn_rounds(1, 100000);
    sleep(11);
    uint64_t start_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct thread_slot before = *slot;
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < start_ns + UINT64_C(500000000))
        burn_rounds(1, 100000);
    uint64_t ticks = (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / (uint64_t)tick.tv_nsec;
    printf("%llu %llu %llu\n", (unsigned long long)(slot->produced - before.produced),
           (unsigned long long)(slot->lost_away - before.lost_away), (unsigned long long)ticks);
    return 0;
}
