/* SPDX-License-Identifier: MIT */
/* The index over a module's rows, and the pieces written together: wire/rows.h. */
#pragma once

#include "wire/rows.h"

#include <stddef.h>

/* Code compiled together. */
#define ROW_PIECE_SHIFT 17
#define ROW_PIECE_BYTES (UINT32_C(1) << ROW_PIECE_SHIFT)

struct row_buckets {
    uint32_t count;
    uint32_t shift; /* at most ROW_PIECE_SHIFT */
};

/* The buckets of so many bytes of code: the larger, the more there are. */
struct row_buckets row_index_plan(uint32_t text_bytes);

/* Writes the index words of a piece. rows: the piece's, the first applies at the piece's start;
 * they are at row number `first` of the shared rows already. */
void row_index_publish(uint64_t *words, struct row_buckets buckets, uint32_t piece,
                       const struct row *rows, size_t count, uint32_t first);
