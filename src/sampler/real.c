/* SPDX-License-Identifier: MIT */
#include "sampler/real.h"

#include "wire/atomic.h"

#include <dlfcn.h>
#include <stddef.h>

static const char *const names[REAL_COUNT] = {
#define REAL_NAME(name) #name,
    REAL_FUNCTIONS(REAL_NAME)
#undef REAL_NAME
};

static void *found[REAL_COUNT];

/* One that has a newer version, which is what dlsym() finds. */
static void *find_old(enum real_index index)
{
    const char *name = index == REAL_INDEX_posix_spawn_2_2_5 ? "posix_spawn" : "posix_spawnp";
    return dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
}

static void *find(enum real_index index)
{
    if (index == REAL_INDEX_posix_spawn_2_2_5 || index == REAL_INDEX_posix_spawnp_2_2_5)
        return find_old(index);
    return dlsym(RTLD_NEXT, names[index]);
}

void *real_function(enum real_index index)
{
    void *function = load_relaxed(&found[index]);
    if (function)
        return function;
    function = find(index);
    store_relaxed(&found[index], function);
    return function;
}

void real_find_all(void)
{
    for (uint32_t i = 0; i < REAL_COUNT; i++)
        real_function(i);
}
