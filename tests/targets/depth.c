/* SPDX-License-Identifier: MIT */
/* depth N MILLISECONDS: main, then recurse N frames deep, then leaf, which uses the time. */
#include "burn.h"

#include <stdlib.h>

static uint64_t end_ns;

__attribute__((noinline)) static uint64_t leaf(uint64_t value)
{
    for (;;) {
        value = burn_rounds(value, 1000000);
        if (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) >= end_ns)
            return value;
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
    return recurse(1, depth) == 0;
}
