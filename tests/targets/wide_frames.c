/* SPDX-License-Identifier: MIT */
/* wide_frames MILLISECONDS: works below 40 frames of 10 KiB that are full of numbers, as an interpreter's are. */
#include "burn.h"

#include <stdlib.h>

enum { FRAMES = 40, WORDS = 10240 / 8 };

__attribute__((noinline)) static uint64_t works_below(uint64_t end_ns)
{
    return burn_until_ns(end_ns);
}

__attribute__((noinline)) static uint64_t evaluates(int depth, uint64_t end_ns)
{
    uint64_t numbers[WORDS];
    for (uint64_t i = 0; i < WORDS; i++)
        numbers[i] = i * 0x9e3779b97f4a7c15u;
    __asm__ volatile("" : : "r"(numbers) : "memory");
    uint64_t value = depth > 1 ? evaluates(depth - 1, end_ns) : works_below(end_ns);
    __asm__ volatile("" : : "r"(numbers) : "memory");
    return value + numbers[depth];
}

int main(int argc, char **argv)
{
    uint64_t work_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    return evaluates(FRAMES, burn_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + work_ns) == 0;
}
