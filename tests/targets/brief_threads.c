/* SPDX-License-Identifier: MIT */
/* brief_threads N [NS]: N threads end one after the other, with NS (300000) of CPU time each, too little for a sample; the
 * program goes on. */
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t work_ns = 300000;

__attribute__((noinline)) static void *end_early(void *nothing)
{
    return burn_until_ns(work_ns) ? nothing : NULL;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        work_ns = strtoull(argv[2], NULL, 10);
    for (int left = argc > 1 ? atoi(argv[1]) : 20; left > 0; left--) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_early, NULL);
        pthread_join(thread, NULL);
    }
    usleep(200000);
    return burn_until_ns(50000000) == 0;
}
