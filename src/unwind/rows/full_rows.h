/* SPDX-License-Identifier: MIT */
/*
 * Rows of full CFI, by address, for steps that need any register. The instructions of an FDE run
 * from the start up to the address; expensive rows are kept.
 *
 * A hostile FDE may have millions of instructions, and a capture thousands of frames in there: a
 * module's instructions run for FULL_ROWS_TIMES the bytes of its CFI and FULL_ROWS_START_BYTES
 * more, apart from FULL_ROWS_FREE_BYTES for each lookup, more than most functions have.
 */
#pragma once

#include "base/containers/two_way_cache.h"
#include "unwind/rows/lazy_rules.h"

enum { FULL_ROWS_FREE_BYTES = 128, FULL_ROWS_TIMES = 8, FULL_ROWS_START_BYTES = 1 << 20 };

struct full_rows; /* opaque */
struct row_room;

struct full_row {
    struct two_way_cache_key key;
    struct cfi_row row;
    uint8_t return_register;
    bool is_signal_frame;
};

/* cfi_bytes: of all sections; room: of the rows kept. NULL: out of memory. */
struct full_rows *full_rows_new(size_t cfi_bytes, struct row_room *room);
void full_rows_free(struct full_rows *rows);

/* The row of an address (less the base svma). NULL: none, or beyond the limit. Valid until the next
 * call. */
const struct full_row *full_rows_find(struct full_rows *rows, struct lazy_rules *lazy,
                                      uint64_t base_svma, uint32_t relative);

/* Number of lookups beyond the limit. */
uint64_t full_rows_refused(const struct full_rows *rows);
