/* SPDX-License-Identifier: MIT */
/* dump_core MILLISECONDS: uses the time, then writes to address 0. */
#include "burn.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    burn_until_ns(strtoull(argc > 1 ? argv[1] : "200", NULL, 10) * 1000000);
    *(volatile int *)0 = 1;
    return 0;
}
