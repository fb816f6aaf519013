/* SPDX-License-Identifier: MIT */
/* unwritten_frame MILLISECONDS: works below a frame of 12 KiB whose pages the program never writes. */
#include "burn.h"

#include <stdlib.h>

__attribute__((noinline)) static uint64_t below(uint64_t end_ns)
{
    char room[12 << 10];
    __asm__ volatile("" : : "r"(room) : "memory");
    uint64_t value = burn_until_ns(end_ns);
    __asm__ volatile("" : : "r"(room) : "memory");
    return value;
}

int main(int argc, char **argv)
{
    uint64_t for_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    return below(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + for_ns) == 0;
}
