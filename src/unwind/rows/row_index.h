/* SPDX-License-Identifier: MIT */
/* The index over a module's rows, and the pieces that its words are written by: see wire/rows.h. */
#pragma once

#include "wire/rows.h"

#include <stddef.h>

/* Code whose rows are compiled together. */
#define ROW_PIECE_SHIFT 17
#define ROW_PIECE_BYTES (UINT32_C(1) << ROW_PIECE_SHIFT)

struct row_buckets {
    uint32_t count;
    uint32_t shift; /* at most ROW_PIECE_SHIFT */
};

/* The buckets of so many bytes of code: the larger, the more there are. */
struct row_buckets row_index_plan(uint32_t text_bytes);

/* Writes the words of a piece. rows: those of the piece, count of them, the first of which holds where the piece
 * begins; they lie at row number `first` of the shared ones already. */
void row_index_publish(uint64_t *words, struct row_buckets buckets, uint32_t piece,
                       const struct row *rows, size_t count, uint32_t first);
