/* SPDX-License-Identifier: MIT */
#include "sampler/base/next_symbol.h"

#include "wire/atomic.h"

#include <dlfcn.h>
#include <stddef.h>

static const char *const names[NEXT_COUNT] = {
#define NEXT_NAME(name) #name,
    NEXT_SYMBOLS(NEXT_NAME)
#undef NEXT_NAME
};

static void *found[NEXT_COUNT];

/* The older of two versions: dlsym() finds the newer. */
static void *find_old(enum next_index index)
{
    const char *name = index == NEXT_INDEX_posix_spawn_2_2_5 ? "posix_spawn" : "posix_spawnp";
    return dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
}

static void *find(enum next_index index)
{
    if (index == NEXT_INDEX_posix_spawn_2_2_5 || index == NEXT_INDEX_posix_spawnp_2_2_5)
        return find_old(index);
    return dlsym(RTLD_NEXT, names[index]);
}

void *next_symbol(enum next_index index)
{
    void *function = load_relaxed(&found[index]);
    if (function)
        return function;
    function = find(index);
    store_relaxed(&found[index], function);
    return function;
}

void next_symbol_find_all(void)
{
    for (uint32_t i = 0; i < NEXT_COUNT; i++)
        next_symbol(i);
}
