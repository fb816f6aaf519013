/* SPDX-License-Identifier: MIT */
/* Options of symbols_open(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPU time for reading debug info, of all files of a conversion, beyond the time by their bytes. */
#define SYMBOLS_RESERVE_NS UINT64_C(500000000)

struct symbols_config {
    const char *debug_directory; /* "/usr/lib/debug"; may not exist */
    /* Another source of debug files: returns the path of a downloaded file by build-id, or NULL.
     * May be NULL. */
    const char *(*find_fetched)(const void *context, const uint8_t *build_id,
                                size_t build_id_bytes);
    const void *find_fetched_context;
    const char *path_now;      /* the path to open instead; NULL: the path itself */
    bool symbols_only;         /* debug info is not read: neither inlined functions nor lines */
    uint64_t reserve_taken_ns; /* by earlier files */
    /* The only addresses to be resolved later, ascending; symbols and units of others are dropped.
     * None: any address. */
    const uint64_t *needed;
    size_t needed_count;
    bool is_needed_later; /* with symbols_only: symbols_need() follows */
};
