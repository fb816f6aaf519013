/* SPDX-License-Identifier: MIT */
#include "unwind/rows/row_index.h"

#include "wire/atomic.h"

/* A dozen rows in cc1 (a row for 43 bytes of code): two cache lines. */
#define BUCKET_SHIFT_LEAST 9
/* 4 MiB, a sixteenth of the shared memory: enough for 256 MiB of code with the smallest buckets. */
#define BUCKETS_MOST (UINT32_C(1) << 19)
_Static_assert(UINT32_MAX >> ROW_PIECE_SHIFT < BUCKETS_MOST, "a piece is of whole buckets");

struct row_buckets row_index_plan(uint32_t text_bytes)
{
    struct row_buckets buckets = {.shift = BUCKET_SHIFT_LEAST};
    if (text_bytes == 0)
        return buckets;
    while ((text_bytes - 1) >> buckets.shift >= BUCKETS_MOST)
        buckets.shift++;
    buckets.count = ((text_bytes - 1) >> buckets.shift) + 1;
    return buckets;
}

/* The first row of a bucket begins before or at the bucket's start. Rows are complete before the
 * word: the sampler reads the word with acquire, and then the rows (unwind_find_in_table()). */
void row_index_publish(uint64_t *words, struct row_buckets buckets, uint32_t piece,
                       const struct row *rows, size_t count, uint32_t first)
{
    uint32_t per_piece = ROW_PIECE_BYTES >> buckets.shift;
    uint64_t start = (uint64_t)piece << ROW_PIECE_SHIFT;
    uint32_t bucket = piece * per_piece;
    size_t row = 0;
    for (uint32_t i = 0; i < per_piece && bucket < buckets.count && count; i++, bucket++) {
        uint64_t next_start = start + (UINT64_C(1) << buckets.shift);
        while (row + 1 < count && rows[row + 1].start <= start)
            row++;
        size_t end = row + 1;
        while (end < count && rows[end].start < next_start)
            end++;
        store_release(&words[bucket], row_bucket(first + (uint32_t)row, (uint32_t)(end - row)));
        start = next_start;
    }
}
