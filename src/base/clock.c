/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <time.h>

uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int64_t monotonic_ms(void)
{
    return (int64_t)(monotonic_ns() / 1000000);
}
