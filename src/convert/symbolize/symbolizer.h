/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses from the binaries. Debug information is foreign and large, and its library is
 * not hardened: parsing happens in confined processes (base/sandbox/workers.h), a range of a lib's
 * addresses in each. Results of a worker are parsed like any foreign file.
 *
 *     addresses by lib, svma  │ lib 0 │ lib 1 ···············│ lib 2 │ lib 3 │
 *     ranges                  │ range │ range    │ range     │ range │ range │  large libs: several
 *     jobs                    │ job   │ job      │ job       │ job           │  small libs: shared
 *
 * A process costs 2 ms, the symbols of a library without debug info less. Ranges of a failed job
 * are repeated, a job for each. Addresses named during loading are in no range.
 */
#pragma once

#include "base/sandbox/workers.h"
#include "convert/options.h"
#include "convert/symbolize/debuginfod.h"
#include "convert/symbolize/symbolize_range.h"
#include "convert/symbolize/symbolize_time.h"
#include "profile/profile.h"
#include "symbols/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ranges at turn[first], turn[first + stride], … */
struct symbolize_job {
    size_t first, count, stride;
};
struct symbolize_jobs {
    struct symbolize_job *items;
    size_t count, capacity;
};

struct symbolizer {
    struct profile *profile; /* notes go there */
    const uint32_t *order;   /* addresses by lib, then svma */
    const struct convert_options *options;
    struct symbolize_range *ranges;
    size_t count, capacity;
    size_t ended_count;
    bool reads_debug_info; /* nothing else is compressed */
    size_t *turn;          /* indices of all ranges; small ranges last, in descending order */
    struct symbolize_jobs jobs;
    struct symbolize_jobs again; /* of failed jobs with several ranges */
    struct debuginfod debuginfod;
    struct symbolize_time time;
    uint64_t reserve_taken_ns; /* of SYMBOLS_RESERVE_NS, by ended jobs */
    struct workers workers;
    struct worker_pool pool;
};

/* How the file of a range is read. */
enum symbolize_extent {
    SYMBOLIZE_ALL,
    SYMBOLIZE_DEBUG_INFO, /* names without debug info are stored already */
    SYMBOLIZE_SYMBOLS,    /* without debug info */
};

/* Adds the addresses order[first .. first + count), all of a single lib. 0 or -ENOMEM. */
int symbolizer_add(struct symbolizer *symbolizer, size_t first, size_t count,
                   enum symbolize_extent extent);

/* Starts the workers. The process must be single-threaded until symbolizer_finish(). */
void symbolizer_start(struct symbolizer *symbolizer);

/* Waits for the names. */
void symbolizer_finish(struct symbolizer *symbolizer);
void symbolizer_free(struct symbolizer *symbolizer);

/* Whether a name was found for the address at this place of the order. The
 * result lives as long as the lookup. */
bool symbolizer_find(const struct symbolizer *symbolizer, size_t place,
                     struct symbol_result *result);

/* Whether the file was read for the address at `place`: without a name, the file has none. */
bool symbolizer_is_answered(const struct symbolizer *symbolizer, size_t place);

/* Whether the names at `place` are from debug info, better than all others. */
bool symbolizer_has_debug_info(const struct symbolizer *symbolizer, size_t place);
