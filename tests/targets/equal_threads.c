/* SPDX-License-Identifier: MIT */
/* equal_threads N MILLISECONDS: N threads, named equal-0 …, each with that much CPU time. */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t end_ns;

__attribute__((noinline)) static uint64_t work_of_a_thread(void)
{
    return burn_until_ns(end_ns);
}

static void *thread_start(void *name)
{
    pthread_setname_np(pthread_self(), name);
    return work_of_a_thread() ? NULL : name;
}

int main(int argc, char **argv)
{
    enum { MOST = 64 };
    int count = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t threads[MOST];
    char names[MOST][16];
    end_ns = strtoull(argc > 2 ? argv[2] : "500", NULL, 10) * 1000000;
    for (int i = 0; i < count && i < MOST; i++) {
        snprintf(names[i], sizeof(names[i]), "equal-%d", i);
        pthread_create(&threads[i], NULL, thread_start, names[i]);
    }
    for (int i = 0; i < count && i < MOST; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
