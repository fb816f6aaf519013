/* SPDX-License-Identifier: MIT */
/* deep_recursion DEPTH TURNS [PAUSE_MS]: goes that deep and back again, working on every level; first it sleeps. */
#include "burn.h"

#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static uint64_t
go_down(uint64_t value, long depth)
{
    value = burn_rounds(value, 20);
    if (depth > 0)
        value = go_down(value, depth - 1);
    __asm__ volatile("" : "+r"(value));
    return value;
}

int main(int argc, char **argv)
{
    long depth = argc > 1 ? atol(argv[1]) : 100000;
    uint64_t value = 1;
    if (argc > 3)
        usleep((useconds_t)atol(argv[3]) * 1000);
    for (long i = argc > 2 ? atol(argv[2]) : 100; i > 0; i--)
        value = go_down(value, depth);
    return value == 0;
}
