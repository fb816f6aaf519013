/* SPDX-License-Identifier: MIT */
/* Options of convert_load() and convert_resolve() (convert.h). */
#pragma once

#include "convert/filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONVERT_DEBUG_DIRECTORY "/usr/lib/debug"

struct early_names; /* convert/symbolize/early/early_names.h */

struct convert_options {    /* NULL instead of a pointer to options: the defaults */
    const char *input_name; /* name of the file in messages; NULL: the path */
    const char *symfs;      /* root of the recorded files; NULL: / */
    /* Root of separate debug files; NULL: CONVERT_DEBUG_DIRECTORY below symfs. */
    const char *debug_directory;
    /* Another path of a recorded file since deleted or replaced; NULL: none. May be NULL. */
    const char *(*find_gone)(const void *context, const char *path, const uint8_t *build_id,
                             size_t build_id_bytes);
    const void *find_gone_context;
    const int *gone_fds; /* descriptors behind the paths of find_gone, ascending */
    size_t gone_fd_count;
    /* A kernel function that the recording has named: its name, and where it begins; NULL: not
     * named. May be NULL. */
    const char *(*find_kernel)(const void *context, uint64_t avma, uint64_t *start_avma);
    const void *find_kernel_context;
    uint64_t memory_bytes;     /* memory limit of the conversion; 0: the default (base/budget.h) */
    struct early_names *early; /* zeros; names found while loading; NULL: none */
    bool symbols_only;         /* read symbol tables only: no inlined functions, no lines */
    bool leaves_separate_debug_info; /* not read where it lies in another file: later conversions
                                      * read it */
    bool use_debuginfod;             /* fetch missing debug info from servers (debuginfod.h) */
    struct filter filter;            /* selection of the loaded samples */
    bool adds_samples_up;            /* discard sample times: equal samples share an element */
    /* Progress callback of name lookup; may be NULL. */
    void (*progress)(void *context, const char *what, size_t done, size_t of);
    void *progress_context;
};
