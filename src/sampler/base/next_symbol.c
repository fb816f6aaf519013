/* SPDX-License-Identifier: MIT */
#include "sampler/base/next_symbol.h"

#include "wire/atomic.h"

#include <dlfcn.h>

static const char *const names[NEXT_COUNT] = {
#define NEXT_NAME(name) #name,
    NEXT_SYMBOLS(NEXT_NAME)
#undef NEXT_NAME
};

static void *found[NEXT_COUNT];

void *next_symbol(enum next_index index)
{
    void *function = load_relaxed(&found[index]);
    if (function)
        return function;
    function = dlsym(RTLD_NEXT, names[index]);
    store_relaxed(&found[index], function);
    return function;
}

void next_symbol_find_all(void)
{
    for (uint32_t i = 0; i < NEXT_COUNT; i++)
        next_symbol(i);
}
