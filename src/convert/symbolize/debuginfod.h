/* SPDX-License-Identifier: MIT */
/*
 * Debug info from debuginfod servers (DEBUGINFOD_URLS) for modules without debug info on this
 * machine. Only with --debuginfod: the servers learn the build-ids of the recording. libdebuginfod
 * is loaded in child processes, several at once, and keeps files in its own cache.
 *
 *     debuginfod_add() for each lib             its debug file, unless present
 *     debuginfod_run()
 *     debuginfod_add_supplement() for each lib  the debug file's dwz supplement, unless present
 *     debuginfod_run()
 */
#pragma once

#include "convert/options.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

struct debuginfod_file {
    uint8_t build_id[20];
    uint8_t build_id_bytes;
    char *path; /* the fetched file; NULL: none. Owned */
    int err;    /* of the download: 0 or a negative errno */
};

struct debuginfod {
    const struct profile *profile;
    const struct convert_options *options;
    struct debuginfod_file *files;
    size_t count, capacity;
    size_t tried;     /* of the count */
    int64_t until_ms; /* deadline of all downloads; 0: not started */
    uint64_t fetched_bytes;
    char reason[320]; /* of the last failure */
};

/* Adds the missing files of a lib with a build-id. 0 or -ENOMEM. */
int debuginfod_add(struct debuginfod *debuginfod, uint32_t lib);
int debuginfod_add_supplement(struct debuginfod *debuginfod, uint32_t lib);

/* Fetches all added files, in two minutes and 4 GB of disk at most. NULL, or a sentence about
 * failures; borrowed. */
const char *debuginfod_run(struct debuginfod *debuginfod);

/* The path of the file fetched for this build-id; NULL: none. */
const char *debuginfod_find(const struct debuginfod *debuginfod, const uint8_t *build_id,
                            size_t build_id_bytes);

void debuginfod_free(struct debuginfod *debuginfod);
