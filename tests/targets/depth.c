/* SPDX-License-Identifier: MIT */
/* depth N MILLISECONDS [PAUSE]: main, then recurse N frames deep, then leaf, which uses the time. After a quarter of
 * it, leaf sleeps for PAUSE milliseconds. */
#include "burn.h"

#include <stdlib.h>
#include <unistd.h>

static uint64_t end_ns, pause_ms;

__attribute__((noinline)) static uint64_t leaf(uint64_t value)
{
    for (;;) {
        value = burn_rounds(value, 1000000);
        uint64_t used_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        if (used_ns >= end_ns)
            return value;
        if (pause_ms > 0 && used_ns >= end_ns / 4) {
            usleep((useconds_t)pause_ms * 1000);
            pause_ms = 0;
        }
    }
}

__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static uint64_t
recurse(uint64_t value, int depth)
{
    value = depth > 1 ? recurse(value, depth - 1) : leaf(value);
    __asm__ volatile("" : "+r"(value));
    return value;
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 5;
    end_ns = strtoull(argc > 2 ? argv[2] : "500", NULL, 10) * 1000000;
    pause_ms = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    return recurse(1, depth) == 0;
}
