/* SPDX-License-Identifier: MIT */
/*
 * The names of a lib's addresses, from its file, in a confined process:
 *
 *     open ─▶ add each address ─▶ notes, terminated ─▶ names, in the format of captures
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
    const struct profile *profile; /* borrowed; the caller fills in the first eight */
    const struct convert_options *options;
    const struct debuginfod *debuginfod; /* NULL: nothing was fetched */
    uint32_t lib;
    bool only_debug_info;      /* names without debug info are useless: stored names are better */
    bool symbols_only;         /* debug info is not read */
    bool is_needed_later;      /* lib_symbols_need() follows */
    uint64_t reserve_taken_ns; /* of SYMBOLS_RESERVE_NS; the file's part is added */
    struct symbols *symbols;
    struct profile *named; /* a profile with only this lib; NULL: no names */
    uint32_t named_lib;
    int err; /* of opening */
    struct error error;
};

/* Whether a file with no proof but its time was written after the end of
 * the recording. */
bool lib_symbols_are_changed(const struct profile *profile, const struct convert_options *options,
                             uint32_t lib);

/* Directories readable in the sandbox of a process with these options. */
void lib_symbols_set_directories(struct confine_limits *limits,
                                 const struct convert_options *options);

/* wanted: the only addresses to be added, ascending; none: any. */
void lib_symbols_open(struct lib_symbols *symbols, const uint64_t *wanted, size_t wanted_count);

/* The only addresses to be added next, ascending. */
void lib_symbols_need(struct lib_symbols *symbols, const uint64_t *wanted, size_t wanted_count);

/* Each once. */
void lib_symbols_add(struct lib_symbols *symbols, uint64_t svma);

void lib_symbols_write_note(struct lib_symbols *symbols, struct buffer *out);

void lib_symbols_close_file(struct lib_symbols *symbols);

/* Out of memory: out->failed. */
void lib_symbols_write(struct lib_symbols *symbols, struct buffer *out);

void lib_symbols_close(struct lib_symbols *symbols);
