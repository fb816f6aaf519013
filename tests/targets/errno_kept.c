/* SPDX-License-Identifier: MIT */
/* errno_kept MILLISECONDS: sets errno, works, and looks whether it is still there. */
#include "burn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    uint64_t end_ns = strtoull(argc > 1 ? argv[1] : "500", NULL, 10) * 1000000;
    unsigned changed = 0;
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
        errno = 42;
        burn_rounds(1, 2000);
        changed += errno != 42;
    }
    printf("%u changed\n", changed);
    return 0;
}
