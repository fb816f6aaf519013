/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses out of the binaries. Debug information is foreign, large and read by a library that
 * was not written against malice: it is read in confined processes (base/sandbox/workers.h), a piece of a lib's
 * addresses in each. What a worker sends back is parsed like any file.
 *
 *     addresses by lib, then svma   │ lib 0 │ lib 1 ···············│ lib 2 │ lib 3 │
 *     pieces                        │ piece │ piece    │ piece     │ piece │ piece │   of large libs several
 *     jobs                          │ job   │ job      │ job       │ job           │   of small libs one for some
 *
 * A process costs 2 ms, the symbols of a library without debug info less. The pieces of a job that fails are tried
 * again, each alone. What was answered while samples were loaded is no piece of any job.
 */
#pragma once

#include "base/sandbox/workers.h"
#include "convert/options.h"
#include "convert/symbolize/debuginfod.h"
#include "convert/symbolize/symbolize_range.h"
#include "profile/profile.h"
#include "symbols/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those at turn[first], turn[first + stride], … */
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
    size_t *turn; /* indices of all pieces, small ones last and the less the later */
    struct symbolize_jobs jobs;
    struct symbolize_jobs again; /* of jobs that failed, as long as they have several pieces */
    struct debuginfod debuginfod;
    struct workers workers;
    struct worker_pool pool;
};

/* The addresses order[first .. first + count), all of one lib, are to be looked up. 0 or -ENOMEM. */
int symbolizer_add(struct symbolizer *symbolizer, size_t first, size_t count, bool only_debug_info);

/* Starts the workers. The process must be single-threaded until symbolizer_finish(). */
void symbolizer_start(struct symbolizer *symbolizer);

/* Waits for the names. */
void symbolizer_finish(struct symbolizer *symbolizer);
void symbolizer_free(struct symbolizer *symbolizer);

/* Whether a name was found for the address at this place of the order. The
 * result lives as long as the lookup. */
bool symbolizer_find(const struct symbolizer *symbolizer, size_t place,
                     struct symbol_result *result);

/* Whether the file was read for a name of that address: where none was found there is none. */
bool symbolizer_is_answered(const struct symbolizer *symbolizer, size_t place);

/* Whether names that were found there are better than any without debug info. */
bool symbolizer_has_debug_info(const struct symbolizer *symbolizer, size_t place);
