/* SPDX-License-Identifier: MIT */
/*
 * Code generated at run time: a source for each perf map, jitdump or part of a capture. A file of
 * several processes (hard links, inherited mappings) is read once. All sources share a budget of
 * bytes and of pieces of code (base/budget.h).
 */
#pragma once

#include "convert/jit/jit_code.h"

#include <sys/stat.h>

struct jit_source {
    struct stat file; /* st_ino 0: not from a file */
    bool is_dump;
    struct jit_codes codes; /* sorted once finished */
};

struct jit_sources {
    struct jit_source **items; /* owned */
    size_t count, capacity;
    uint64_t read_bytes, pieces;
    bool is_exceeded; /* a file was dropped, or a part of a file */
};

void jit_sources_free(struct jit_sources *sources);

/* Adds an empty source. NULL: out of memory. */
struct jit_source *jit_sources_add(struct jit_sources *sources);

/* Admission of a file, by its status, into the newest source: 0, or -EFBIG: over the budget. 1:
 * already another source, *known. */
int jit_sources_admit(struct jit_sources *sources, const struct stat *file, bool is_dump,
                      struct jit_source **known);

/* Completes the newest source: sorts its pieces. err: result of reading; after -ENOMEM the
 * source has no pieces. */
void jit_sources_finish(struct jit_sources *sources, int err);

/* Takes back the newest. */
void jit_sources_drop(struct jit_sources *sources);
