/* SPDX-License-Identifier: MIT */
/* plugins MILLISECONDS A.so B.so: loads, calls and unloads the two in turn, until the time is used. Says
 * whether both were ever mapped at the same address. */
#include "burn.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *call_plugin(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW);
    if (!handle)
        exit(1);
    void (*run)(void) = (void (*)(void))dlsym(handle, "plugin_run");
    run();
    dlclose(handle);
    return (void *)run;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 98;
    uint64_t end_ns = strtoull(argv[1], NULL, 10) * 1000000;
    int same = 0;
    while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
        uintptr_t first = (uintptr_t)call_plugin(argv[2]);
        uintptr_t second = (uintptr_t)call_plugin(argv[3]);
        same += first >> 12 == second >> 12;
    }
    puts(same ? "the same address" : "different addresses");
    return 0;
}
