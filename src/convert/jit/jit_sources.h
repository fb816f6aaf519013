/* SPDX-License-Identifier: MIT */
/*
 * What is known of code made at run time: one source for each perf map, jitdump or part of a capture. A file that
 * several processes share, by hard links or an inherited mapping, is read once. All sources share one budget of bytes
 * and of pieces of code (base/budget.h).
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
    bool is_exceeded; /* a file was left out, or a part of it */
};

void jit_sources_free(struct jit_sources *sources);

/* A new one, to be filled. NULL: out of memory. */
struct jit_source *jit_sources_add(struct jit_sources *sources);

/* Whether the file behind this status is to be read into the newest source: 0, -EFBIG when it exceeds the budget. 1:
 * it is another source already, *known. */
int jit_sources_admit(struct jit_sources *sources, const struct stat *file, bool is_dump,
                      struct jit_source **known);

/* Ends the filling of the newest: sorts its pieces; err is that of filling it. Out of memory, it has no pieces. */
void jit_sources_finish(struct jit_sources *sources, int err);

/* Takes back the newest. */
void jit_sources_drop(struct jit_sources *sources);
