/* SPDX-License-Identifier: MIT */
/* inlined MILLISECONDS: main calls outer, and two functions inlined into it do the work. The tests look
 * for the marks at the ends of lines. */
#include "burn.h"

#include <stdlib.h>

static inline __attribute__((always_inline)) uint64_t inner(uint64_t value)
{
    for (uint64_t i = 0; i < 100000; i++)
        __asm__ volatile("imul $3, %0\n\tadd $1, %0" : "+r"(value)); /* mark: works */
    return value;
}

static inline __attribute__((always_inline)) uint64_t middle(uint64_t value)
{
    return inner(value) ^ 5; /* mark: middle calls inner */
}

__attribute__((noinline)) static uint64_t outer(uint64_t value)
{
    return middle(value) + 1; /* mark: outer calls middle */
}

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    uint64_t value = 1;
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
        value = outer(value); /* mark: main calls outer */
    return value == 0;
}
