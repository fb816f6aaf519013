/* SPDX-License-Identifier: MIT */
#include "base/loaded_library.h"

#include <dlfcn.h>
#include <string.h>

bool library_load(const char *file, const struct library_function *functions)
{
    void *library = dlopen(file, RTLD_NOW);
    if (!library)
        return false;
    for (; functions->name; functions++) {
        void *address = dlsym(library, functions->name);
        if (!address)
            return false;
        memcpy(functions->place, &address, sizeof(address));
    }
    return true;
}

bool library_need(struct library_at_need *library)
{
    pthread_mutex_lock(&library->mutex);
    if (!library->was_tried)
        library->is_there = library_load(library->file, library->functions);
    library->was_tried = true;
    bool is_there = library->is_there;
    pthread_mutex_unlock(&library->mutex);
    return is_there;
}
