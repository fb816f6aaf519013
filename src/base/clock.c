/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <sys/resource.h>

uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t children_cpu_ns(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_CHILDREN, &usage) != 0)
        return 0;
    const uint64_t seconds = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
    const uint64_t micros = (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return seconds * 1000000000 + micros * 1000;
}

uint64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t monotonic_ms(void)
{
    return (int64_t)(monotonic_ns() / 1000000);
}
