/* SPDX-License-Identifier: MIT */
/*
 * attached SECONDS BUSY IDLE [later]: BUSY threads use CPU time below existing_work(), IDLE threads wait. "later":
 * after a second, a new thread uses CPU time below later_work(), and a forked child below child_work().
 * Prints "ready" when the threads are there, and at the end the CPU time in ns. "hidden": not dumpable.
 */
#include "burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t end_ns;
static int is_ready; /* all threads are there */

static int is_over(void)
{
    return burn_clock_ns(CLOCK_MONOTONIC) >= end_ns;
}

/* The empty instructions keep the frames, and keep the compiler from merging equal functions. */
#define WORK(name)                                                 \
    __attribute__((noinline)) static uint64_t name(unsigned depth) \
    {                                                              \
        uint64_t value = 1;                                        \
        if (depth > 0)                                             \
            value = name(depth - 1);                               \
        while (depth == 0 && !is_over())                           \
            value = burn_rounds(value, 100000);                    \
        __asm__ volatile("# " #name : "+r"(value) : : "memory");   \
        return value + 1;                                          \
    }
WORK(existing_work)
WORK(later_work)
WORK(child_work)

static void *run_existing(void *unused)
{
    while (!__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE))
        usleep(1000);
    existing_work(15);
    return unused;
}

static void *run_later(void *unused)
{
    later_work(15);
    return unused;
}

static void *wait_for_end(void *unused)
{
    while (!is_over())
        usleep(200000);
    return unused;
}

static void start(void *(*run)(void *))
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    if (pthread_create(&thread, &small, run, NULL) != 0)
        exit(3);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const char *mode = argc > 4 ? argv[4] : "";
    end_ns = burn_clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[1]) * 1e9);
    if (strcmp(mode, "hidden") == 0)
        prctl(PR_SET_DUMPABLE, 0);
    for (int i = 1; i < atoi(argv[2]); i++)
        start(run_existing);
    for (int i = 0; i < atoi(argv[3]); i++)
        start(wait_for_end);
    __atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
    puts("ready");
    fflush(stdout);
    if (strcmp(mode, "later") == 0) {
        sleep(1);
        start(run_later);
        if (fork() == 0) {
            child_work(15);
            _exit(0);
        }
    }
    if (atoi(argv[2]) > 0)
        existing_work(15);
    wait_for_end(NULL);
    while (wait(NULL) > 0)
        continue;
    printf("%llu\n", (unsigned long long)burn_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
