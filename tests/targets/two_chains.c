/* SPDX-License-Identifier: MIT */
/*
 * two_chains THREADS SECONDS LONGEST_US: threads that rewrite 16 KiB of their stacks before each wait, by calls of
 * even_1() to even_8() and odd_1() to odd_8() in turn. Both chains have frames of one size: a copy from two turns
 * has functions of both.
 */
#include "burn.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 256, STACK_BYTES = 128 << 10 };

static uint64_t end_ns;
static long longest_us;

struct turn {
    uint64_t number;
    long wait_ns;
};

#define LINK(name, callee)                                                           \
    __attribute__((noinline)) static void name(const struct turn *turn)              \
    {                                                                                \
        volatile uint64_t words[WORDS];                                              \
        for (int i = 0; i < WORDS; i++)                                              \
            words[i] = turn->number;                                                 \
        callee(turn);                                                                \
        __asm__ volatile("# " #name); /* no tail call, and no two equal functions */ \
        (void)words[0];                                                              \
    }

#define CHAIN(name)           \
    LINK(name##_8, wait_once) \
    LINK(name##_7, name##_8)  \
    LINK(name##_6, name##_7)  \
    LINK(name##_5, name##_6)  \
    LINK(name##_4, name##_5)  \
    LINK(name##_3, name##_4)  \
    LINK(name##_2, name##_3)  \
    LINK(name##_1, name##_2)

__attribute__((noinline)) static void wait_once(const struct turn *turn)
{
    static uint32_t never;
    const struct timespec time = {.tv_nsec = turn->wait_ns};
    syscall(SYS_futex, &never, FUTEX_WAIT, 0, &time);
}

CHAIN(even)
CHAIN(odd)

static void *take_turns(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    struct turn turn = {.number = 0};
    prctl(PR_SET_TIMERSLACK, 1);
    while (burn_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        turn.number++;
        turn.wait_ns = (1 + rand_r(&seed) % longest_us) * 1000;
        if (turn.number % 2)
            odd_1(&turn);
        else
            even_1(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_attr_t small;
    if (argc != 4)
        return 2;
    int count = atoi(argv[1]);
    pthread_t threads[count];
    end_ns = burn_clock_ns(CLOCK_MONOTONIC) + (uint64_t)atoi(argv[2]) * UINT64_C(1000000000);
    longest_us = atoi(argv[3]);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], &small, take_turns, (void *)(uintptr_t)(i + 1)) != 0)
            return 1;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
