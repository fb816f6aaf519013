/* SPDX-License-Identifier: MIT */
/* A range of a lib's addresses, named in a confined process. */
#pragma once

#include "base/containers/buffer.h"
#include "convert/store/symbol_store.h"
#include "convert/symbolize/lib_symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolize_range {
    uint32_t lib;
    size_t first, count;        /* range in the order of addresses */
    struct symbol_store *store; /* the answer; NULL: none */
    const struct stored_lib *found;
    char *note;           /* for the user; NULL: none */
    bool only_debug_info; /* discard names without debug info: the capture stores better names */
    bool symbols_only;    /* debug info is not read */
    bool may_have_debug_info;
    bool is_answered; /* by early_names.h */
    bool is_small;    /* reading the symbols takes less time than a process */
};

/* Appends the result: the note, terminated, then the names in the format of captures. symbols:
 * opened and closed here; order: from the range's first address. */
void symbolize_range_run(struct lib_symbols *symbols, const struct symbolize_range *range,
                         const uint32_t *order, struct buffer *out);
