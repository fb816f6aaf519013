/* SPDX-License-Identifier: MIT */
/* crowded N BUSY MILLISECONDS: N live threads; the last BUSY of them use so much CPU time each. */
#include "burn.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_barrier_t all_exist;
static uint64_t work_ns;

static void *wait_for_the_others(void *is_busy)
{
    pthread_barrier_wait(&all_exist);
    uint64_t sum = is_busy ? burn_until_ns(work_ns) : 1;
    pthread_barrier_wait(&all_exist);
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 1;
    unsigned count = (unsigned)atoi(argv[1]), busy = (unsigned)atoi(argv[2]);
    work_ns = strtoull(argv[3], NULL, 10) * 1000000;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + 65536);
    pthread_barrier_init(&all_exist, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        pthread_t thread;
        void *is_busy = i + busy >= count ? &work_ns : NULL;
        if (pthread_create(&thread, &attributes, wait_for_the_others, is_busy) != 0)
            return 2;
    }
    pthread_barrier_wait(&all_exist);
    pthread_barrier_wait(&all_exist);
    return 0;
}
