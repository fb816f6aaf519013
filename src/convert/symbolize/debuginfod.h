/* SPDX-License-Identifier: MIT */
/*
 * Debug info from debuginfod servers (DEBUGINFOD_URLS), for modules that have none here. Only when asked
 * for: it tells the servers what was recorded, and takes time. libdebuginfod is loaded in processes that
 * do nothing else, several at once, each with its time; what it fetches it keeps in its own cache.
 *
 *     debuginfod_add() for each lib             its debug file, unless it is here
 *     debuginfod_run()
 *     debuginfod_add_supplement() for each lib  what dwz moved out of that file, unless it is here
 *     debuginfod_run()
 */
#pragma once

#include "convert/options.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debuginfod_file {
    uint8_t build_id[20];
    uint8_t build_id_bytes;
    char *path; /* what was fetched; NULL: nothing. Owned */
};

struct debuginfod {
    const struct profile *profile;
    const struct convert_options *options;
    struct debuginfod_file *files;
    size_t count, capacity;
    size_t tried;     /* of the count */
    int64_t until_ms; /* the end of all fetching; 0: it has not begun */
    bool is_library_missing;
};

/* Adds what a lib with a build-id lacks on this machine. 0 or -ENOMEM. */
int debuginfod_add(struct debuginfod *debuginfod, uint32_t lib);
int debuginfod_add_supplement(struct debuginfod *debuginfod, uint32_t lib);

/* Fetches all that were added, two minutes at most. NULL, or why nothing can be fetched. */
const char *debuginfod_run(struct debuginfod *debuginfod);

/* The path of what was fetched under this build-id; NULL: nothing. */
const char *debuginfod_find(const struct debuginfod *debuginfod, const uint8_t *build_id,
                            size_t build_id_bytes);

void debuginfod_free(struct debuginfod *debuginfod);
