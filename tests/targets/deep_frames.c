/* SPDX-License-Identifier: MIT */
/*
 * deep_frames MILLISECONDS: works below DEPTH large frames in main, in a thread and in a forked child, each for this
 * CPU time, while another thread creates threads. Main and the thread begin near their start. Prints "ready" before.
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef WORDS
#define WORDS 60
#endif
enum { DEPTH = 100, SHALLOW_NS = 20000000 };
static uint64_t work_ns;
static int is_over;

__attribute__((noinline)) static uint64_t works_below(void)
{
    uint64_t value = burn_until_ns(work_ns);
    __asm__ volatile("" : "+r"(value));
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
    burn_until_ns(SHALLOW_NS);
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
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
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
    work_ns = strtoull(argc > 1 ? argv[1] : "1000", NULL, 10) * 1000000;
    puts("ready");
    fflush(stdout);
    burn_until_ns(SHALLOW_NS);
    if (fork() == 0) {
        goes_down(DEPTH);
        _exit(0);
    }
    if (pthread_create(&creator, NULL, creates_threads, NULL) != 0 ||
        pthread_create(&deep, NULL, below, NULL) != 0)
        return 3;
    goes_down(DEPTH);
    pthread_join(deep, NULL);
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    pthread_join(creator, NULL);
    wait(NULL);
    return 0;
}
