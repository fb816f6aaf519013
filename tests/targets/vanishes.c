/* SPDX-License-Identifier: MIT */
/* vanishes MILLISECONDS PLUGIN.so: a program that deletes itself before it does anything, and the plugin as
 * soon as it is loaded; then spends half the time in each. */
#include "burn.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static uint64_t work_of_vanished_program(uint64_t value)
{
    uint64_t now_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return value + burn_until_ns(now_ns + 20000000);
}

int main(int argc, char **argv)
{
    if (argc < 3 || unlink(argv[0]) != 0)
        return 98;
    void *plugin = dlopen(argv[2], RTLD_NOW);
    void (*run)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin_run") : NULL;
    if (!run || unlink(argv[2]) != 0)
        return 97;
    uint64_t value = 0;
    for (uint64_t end_ns = strtoull(argv[1], NULL, 10) * 1000000;
         burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns;) {
        value = work_of_vanished_program(value);
        run();
    }
    return value == 0;
}
