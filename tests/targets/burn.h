/* SPDX-License-Identifier: MIT */
/* What most targets need: to use CPU time, and to know how much. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t burn_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A chain of additions and shifts that no compiler shortens. */
static inline uint64_t burn_rounds(uint64_t value, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        value += value << 7 ^ i;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

/* So many rounds take that long on this machine, where the clock may be out of reach later. */
static inline uint64_t burn_rounds_of(uint64_t milliseconds)
{
    enum { ROUNDS = 10000000 };
    uint64_t start_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    burn_rounds(1, ROUNDS);
    return milliseconds * 1000000 * ROUNDS / (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns);
}

/* Until the thread has used that much CPU time since it began. */
static inline uint64_t burn_until_ns(uint64_t thread_cpu_ns)
{
    uint64_t value = 1;
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < thread_cpu_ns)
        value = burn_rounds(value, 10000);
    return value;
}
