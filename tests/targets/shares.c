/* SPDX-License-Identifier: MIT */
/*
 * shares MILLISECONDS: three functions with about 70, 20 and 10 % of the CPU time, in turns that are
 * shorter than any sampling period and never of the same length. Prints what each really got, in ns: on a
 * busy virtual machine the same work does not always take the same time.
 */
#include "burn.h"

#include <inttypes.h>
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

/* Charges the CPU time since *last_ns. */
static void charge(uint64_t *used_ns, uint64_t *last_ns)
{
    uint64_t now_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    *used_ns += now_ns - *last_ns;
    *last_ns = now_ns;
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "1000", NULL, 10) * 1000000;
    uint64_t value = 1, random = 1;
    uint64_t used_70_ns = 0, used_20_ns = 0, used_10_ns = 0;
    uint64_t last_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (last_ns < end_ns) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t unit = 5000 + (random >> 48);
        value = hot_70(value, unit);
        charge(&used_70_ns, &last_ns);
        value = hot_20(value, unit);
        charge(&used_20_ns, &last_ns);
        value = hot_10(value, unit);
        charge(&used_10_ns, &last_ns);
    }
    printf("hot_70 %" PRIu64 "\nhot_20 %" PRIu64 "\nhot_10 %" PRIu64 "\n", used_70_ns, used_20_ns,
           used_10_ns);
    return value == 0;
}
