/* SPDX-License-Identifier: MIT */
/*
 * Debug info from debuginfod servers (DEBUGINFOD_URLS), for modules that have none here. Only when asked
 * for: it tells the servers what was recorded, and takes time. libdebuginfod is loaded in processes that
 * do nothing else, several at once, each with its time; what it fetches it keeps in its own cache.
 */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

struct fetch {
    const struct profile *profile;
    const char *debug_directory;
    void (*progress)(void *context, const char *what, size_t done, size_t of); /* may be NULL */
    void *progress_context;
    char **paths;   /* by lib; the debug file that was fetched, or NULL. Owned */
    uint32_t *libs; /* that are to be fetched. Owned */
    size_t count, capacity;
    bool is_library_missing;
};

/* Adds a lib, if it has a build-id and no debug info on this machine. 0 or -ENOMEM. */
int fetch_add(struct fetch *fetch, uint32_t lib);

/* Fetches all that were added, two minutes at most. NULL, or why nothing can be fetched. */
const char *fetch_run(struct fetch *fetch);

void fetch_free(struct fetch *fetch);
