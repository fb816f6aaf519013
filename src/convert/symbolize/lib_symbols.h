/* SPDX-License-Identifier: MIT */
/*
 * The names of one lib's addresses, out of its file, in a confined process:
 *
 *     open ─▶ add of each address ─▶ say: what there is to say, terminated ─▶ answer: the names as captures store them
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/sandbox/confine.h"
#include "base/text/error.h"
#include "convert/options.h"
#include "convert/symbolize/debuginfod.h"
#include "profile/profile.h"
#include "symbols/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lib_symbols {
    const struct profile *profile; /* borrowed; the caller fills in the first six */
    const struct convert_options *options;
    const struct debuginfod *debuginfod; /* NULL: nothing was fetched */
    uint32_t lib;
    bool only_debug_info; /* names without debug info are of no use: better ones are known */
    size_t most_symbols;  /* 0: any number */
    struct symbols *symbols;
    struct profile *named; /* a profile of this one lib; NULL: there are no names */
    uint32_t named_lib;
    int err; /* of opening; -E2BIG: there are too many symbols */
    struct error error;
};

/* Whether the time that the recording ended tells if a lib's file is the one that was recorded: there is no build-id, and the
 * recording knows what time it was. */
bool lib_symbols_is_judged_by_time(const struct profile *profile, uint32_t lib);

/* Directories that the sandbox of a process with these options allows to read. */
void lib_symbols_set_directories(struct confine_limits *limits,
                                 const struct convert_options *options);

/* wanted: the only addresses that will be added, ascending; none: any may be. */
void lib_symbols_open(struct lib_symbols *symbols, const uint64_t *wanted, size_t wanted_count);

/* Each once. */
void lib_symbols_add(struct lib_symbols *symbols, uint64_t svma);

/* The file is closed then. */
void lib_symbols_write_note(struct lib_symbols *symbols, struct buffer *out);

/* No memory: `out` says so. */
void lib_symbols_write(struct lib_symbols *symbols, struct buffer *out);

void lib_symbols_close(struct lib_symbols *symbols);
