/* SPDX-License-Identifier: MIT */
/* brief_threads N: N threads end one after the other before any of them has a sample; the program goes on. */
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void *end_early(void *nothing)
{
    return burn_until_ns(300000) ? nothing : NULL;
}

int main(int argc, char **argv)
{
    for (int left = argc > 1 ? atoi(argv[1]) : 20; left > 0; left--) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_early, NULL);
        pthread_join(thread, NULL);
    }
    usleep(200000);
    return burn_until_ns(50000000) == 0;
}
