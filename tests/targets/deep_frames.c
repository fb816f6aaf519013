/* SPDX-License-Identifier: MIT */
/*
 * deep_frames MILLISECONDS: works below DEPTH frames of 500 bytes in main, in a thread and in a forked child, while
 * another thread creates threads. Prints "ready" before.
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 100, WORDS = 60 };
static uint64_t end_ns;

__attribute__((noinline)) static uint64_t works_below(void)
{
    uint64_t value = 1;
    while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns)
        value = burn_rounds(value, 10000);
    return value;
}

__attribute__((noinline)) static uint64_t goes_down(int depth)
{
    volatile uint64_t room[WORDS];
    room[0] = 1;
    uint64_t value = depth > 1 ? goes_down(depth - 1) : works_below();
    return value + room[0];
}

static void *below(void *unused)
{
    goes_down(DEPTH);
    return unused;
}

static void *brief(void *unused)
{
    burn_rounds(1, 1000);
    return unused;
}

static void *creates_threads(void *unused)
{
    while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, brief, NULL) == 0)
            pthread_join(thread, NULL);
        usleep(3000);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t deep, creator;
    end_ns =
        burn_clock_ns(CLOCK_MONOTONIC) + strtoull(argc > 1 ? argv[1] : "1000", NULL, 10) * 1000000;
    puts("ready");
    fflush(stdout);
    if (fork() == 0) {
        goes_down(DEPTH);
        _exit(0);
    }
    if (pthread_create(&creator, NULL, creates_threads, NULL) != 0 ||
        pthread_create(&deep, NULL, below, NULL) != 0)
        return 3;
    goes_down(DEPTH);
    pthread_join(deep, NULL);
    pthread_join(creator, NULL);
    wait(NULL);
    return 0;
}
