/* SPDX-License-Identifier: MIT */
/* storm_dlopen ROUNDS LIBRARY…: four threads load, call and unload the libraries at random, the others walk
 * the list of what is loaded. Each library's plugin_number(x) is x times something. */
#include "storm.h"

#include <dlfcn.h>
#include <link.h>

static uint64_t load_and_call(const char *path, uint64_t x)
{
    void *handle = dlopen(path, x % 2 ? RTLD_NOW : RTLD_LAZY);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    uint64_t (*number)(uint64_t) = (uint64_t(*)(uint64_t))dlsym(handle, "plugin_number");
    uint64_t result = number(x);
    dlclose(handle);
    return result;
}

static int see(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    (void)bytes;
    *(unsigned *)argument += info->dlpi_phnum > 0;
    return 0;
}

static void *work(void *argument)
{
    struct storm *storm = argument;
    unsigned long count = 0;
    while (storm->arguments[count])
        count++;
    for (unsigned long round = 0; round < storm->rounds; round++) {
        unsigned seen = 0;
        uint64_t random = storm_random(storm);
        if (storm->number < STORM_THREADS / 2)
            storm->sum = storm->sum * 31 + load_and_call(storm->arguments[random % count], random);
        else
            storm->sum += dl_iterate_phdr(see, &seen) == 0 && seen > 2;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    return storm_run(argc, argv, work);
}
