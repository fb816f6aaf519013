/* SPDX-License-Identifier: MIT */
/*
 * Debug info from debuginfod servers (DEBUGINFOD_URLS), for modules that have none here. Only when asked
 * for: it tells the servers what was recorded, and takes time. libdebuginfod is loaded in processes that
 * do nothing else, several at once, each with its time; what it fetches it keeps in its own cache.
 *
 *     fetch_add() for each lib             its debug file, unless it is here
 *     fetch_run()
 *     fetch_add_supplement() for each lib  what dwz moved out of that file, unless it is here
 *     fetch_run()
 */
#pragma once

#include "convert/options.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fetch_file {
    uint8_t build_id[20];
    uint8_t build_id_bytes;
    char *path; /* what was fetched; NULL: nothing. Owned */
};

struct fetch {
    const struct profile *profile;
    const struct convert_options *options;
    struct fetch_file *files;
    size_t count, capacity;
    size_t tried;     /* of the count */
    int64_t until_ms; /* the end of all fetching; 0: it has not begun */
    bool is_library_missing;
};

/* Adds what a lib with a build-id lacks on this machine. 0 or -ENOMEM. */
int fetch_add(struct fetch *fetch, uint32_t lib);
int fetch_add_supplement(struct fetch *fetch, uint32_t lib);

/* Fetches all that were added, two minutes at most. NULL, or why nothing can be fetched. */
const char *fetch_run(struct fetch *fetch);

/* The path of what was fetched under this build-id; NULL: nothing. */
const char *fetch_find(const struct fetch *fetch, const uint8_t *build_id, size_t build_id_bytes);

void fetch_free(struct fetch *fetch);
