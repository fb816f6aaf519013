/* SPDX-License-Identifier: MIT */
/* The first of two plugins of the same size, which are loaded in turn. */
#include "burn.h"

uint64_t plugin_result;

__attribute__((noinline)) static uint64_t work_of_plugin_a(void)
{
    return burn_until_ns(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 20000000);
}

void plugin_run(void);
void plugin_run(void)
{
    plugin_result += work_of_plugin_a();
}
