/* SPDX-License-Identifier: MIT */
/*
 * A matrix of calls, each in a thread of its own: between two of them the thread is busy for a random time,
 * so that signals fall everywhere, also on the way into the call. Each call says itself whether it gave
 * what it gives undisturbed.
 */
#pragma once

#include "burn.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct call {
    const char *name;
    bool (*is_right)(void); /* makes the call once */
    unsigned long turns, wrong;
    pthread_t thread;
};

static uint64_t calls_end_ns;

/* Whether at least so long has passed. */
static inline bool calls_lasted(uint64_t start_ns, uint64_t least_ns)
{
    return burn_clock_ns(CLOCK_MONOTONIC) - start_ns >= least_ns;
}

static inline void *calls_repeat(void *argument)
{
    struct call *call = argument;
    uint64_t random = (uint64_t)(uintptr_t)argument;
    while (burn_clock_ns(CLOCK_MONOTONIC) < calls_end_ns || call->turns < 3) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        burn_rounds(random, (random >> 33) % 60000);
        call->wrong += !call->is_right();
        call->turns++;
    }
    return NULL;
}

/* Something beside the calls that they wait for; ends with the process. */
static inline void calls_beside(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) == 0)
        pthread_detach(thread);
}

/* Prints what differed on stdout, and how often each was called on stderr. */
static inline int calls_run(struct call *calls, size_t count, const char *milliseconds)
{
    calls_end_ns = burn_clock_ns(CLOCK_MONOTONIC) + strtoull(milliseconds, NULL, 10) * 1000000;
    unsigned long wrong = 0;
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&calls[i].thread, NULL, calls_repeat, &calls[i]) != 0)
            return 1;
    for (size_t i = 0; i < count; i++) {
        pthread_join(calls[i].thread, NULL);
        fprintf(stderr, "%s %lu\n", calls[i].name, calls[i].turns);
        if (calls[i].wrong)
            printf("%s: %lu wrong\n", calls[i].name, calls[i].wrong);
        wrong += calls[i].wrong;
    }
    printf("%lu wrong\n", wrong);
    return 0;
}
