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

void *real_function(enum real_index index)
{
    void *function = load_relaxed(&found[index]);
    if (function)
        return function;
    function = dlsym(RTLD_NEXT, names[index]);
    store_relaxed(&found[index], function);
    return function;
}

void real_find_all(void)
{
    for (uint32_t i = 0; i < REAL_COUNT; i++)
        real_function(i);
}
