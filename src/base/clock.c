/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t monotonic_ms(void)
{
    return (int64_t)(monotonic_ns() / 1000000);
}
