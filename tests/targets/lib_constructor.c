/* SPDX-License-Identifier: MIT */
/* Works for 300 ms before main of the program that links it. */
#include "burn.h"

uint64_t lib_constructor_result;

__attribute__((noinline)) static void work_before_main(void)
{
    lib_constructor_result = burn_until_ns(300 * 1000000);
}

__attribute__((constructor)) static void constructor(void)
{
    work_before_main();
    lib_constructor_result++;
}
