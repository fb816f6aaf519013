/* SPDX-License-Identifier: MIT */
/*
 * Code that goes away. A library that is loaded needs no hook: its first sample meets a PC in no known
 * module, and the launcher looks again. A library that is unloaded could be followed by another one at
 * the same addresses: the count tells walks that the published map may be out of date.
 *
 * dlopen() is left alone: it looks at who called it.
 */
#include "sampler/real.h"
#include "sampler/sampler.h"

#include <dlfcn.h>

__attribute__((visibility("default"))) int dlclose(void *handle)
{
    if (!process_is_followed())
        return REAL(dlclose)(handle);
    add_release(&process.slot->unload_count, 1);
    int result = REAL(dlclose)(handle);
    add_release(&process.slot->unload_count, 1);
    return result;
}
