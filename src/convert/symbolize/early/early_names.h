/* SPDX-License-Identifier: MIT */
/*
 * Names from symbol tables, found while a large file is loaded: a worker (base/sandbox/workers.h)
 * starts before the loading, and gets the new addresses in four messages. More would cost more
 * passes over the symbols, fewer would leave more to do after the loading.
 *
 *     loading    ├── 3/16 ─ 3/8 ───────── 3/4 ──────┤ rest
 *     worker     starts │ opens │ names    │ names   │ names, answers
 *
 * The symbolizer names the rest: further libs, and everything if the worker fails.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/cursor.h"
#include "base/sandbox/workers.h"
#include "convert/options.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EARLY_LIBS = 8 }; /* as many as share a worker after the loading */

struct early_names {                       /* zeros: none */
    const struct convert_options *options; /* until the start */
    struct workers workers;
    struct worker_pool pool;
    bool is_started;
    bool is_open;
    int fd, worker_fd; /* while open */
    uint64_t loaded_bytes, next_bytes;
    uint32_t libs[EARLY_LIBS];
    size_t lib_count;
    size_t sent_addresses; /* of the profile, or left out */
    struct buffer answer;  /* failed: none */
};

/* False: the file is small, or needs more than symbol tables. file_bytes: of the capture, which
 * has no stored names. The process must be single-threaded. */
bool early_names_start(struct early_names *early, const struct convert_options *options,
                       uint64_t file_bytes);

/* After each record, and after the last one. */
void early_names_send(struct early_names *early, const struct profile *profile,
                      uint64_t record_bytes);
void early_names_send_rest(struct early_names *early, const struct profile *profile);

/* Waits for the answer. */
void early_names_finish(struct early_names *early);
/* Of a lib: what symbolize_range_run() writes. False: none. */
bool early_names_find(const struct early_names *early, const struct profile *profile,
                      const struct convert_options *options, uint32_t lib, struct cursor *answer);
void early_names_free(struct early_names *early);
