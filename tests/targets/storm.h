/* SPDX-License-Identifier: MIT */
/*
 * Eight threads that do one thing as often as they can, and know what must come out of it.
 *
 *     NAME ROUNDS [ARGUMENT…]       prints the sum of what the threads found, the same in every run
 */
#pragma once

#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { STORM_THREADS = 8 };

struct storm {
    unsigned number; /* of the thread */
    unsigned long rounds;
    char **arguments; /* after ROUNDS */
    uint64_t sum;
    uint64_t random;
    pthread_t thread;
};

/* The same sequence for the same thread in every run. */
static inline uint64_t storm_random(struct storm *storm)
{
    storm->random = storm->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return storm->random >> 20;
}

static inline int storm_run(int argc, char **argv, void *(*thread)(void *))
{
    static struct storm storms[STORM_THREADS];
    uint64_t sum = 0;
    for (unsigned i = 0; i < STORM_THREADS; i++) {
        storms[i].number = i;
        storms[i].rounds = strtoul(argc > 1 ? argv[1] : "100", NULL, 10);
        storms[i].arguments = argv + (argc > 1 ? 2 : 1);
        storms[i].random = i;
        if (pthread_create(&storms[i].thread, NULL, thread, &storms[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < STORM_THREADS; i++) {
        pthread_join(storms[i].thread, NULL);
        sum = sum * 31 + storms[i].sum;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
