/* SPDX-License-Identifier: MIT */
/* short_run MILLISECONDS: uses that much CPU time and ends. */
#include "burn.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    return burn_until_ns(strtoull(argc > 1 ? argv[1] : "20", NULL, 10) * 1000000) == 0;
}
