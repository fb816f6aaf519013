/* SPDX-License-Identifier: MIT */
/* shares MILLISECONDS: three functions with 70, 20 and 10 % of the CPU time, in turns that are shorter
 * than any sampling period and never of the same length. */
#include "burn.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static uint64_t hot_70(uint64_t value, uint64_t unit)
{
    return burn_rounds(value, 7 * unit) + 1;
}

__attribute__((noinline)) static uint64_t hot_20(uint64_t value, uint64_t unit)
{
    return burn_rounds(value, 2 * unit) + 2;
}

__attribute__((noinline)) static uint64_t hot_10(uint64_t value, uint64_t unit)
{
    return burn_rounds(value, unit) + 3;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "1000", NULL, 10) * 1000000;
    uint64_t value = 1, random = 1;
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t unit = 5000 + (random >> 48);
        value = hot_70(value, unit);
        value = hot_20(value, unit);
        value = hot_10(value, unit);
    }
    printf("%d\n", value == 0);
    return 0;
}
