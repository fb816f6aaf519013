/* SPDX-License-Identifier: MIT */
#include "base/loaded_library.h"

#include <dlfcn.h>
#include <string.h>

bool library_load(const char *file, const struct library_function *functions, size_t count)
{
    void *library = dlopen(file, RTLD_NOW);
    if (!library)
        return false;
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, functions[i].name);
        if (!address)
            return false;
        memcpy(functions[i].place, &address, sizeof(address));
    }
    return true;
}
