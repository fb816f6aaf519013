/* SPDX-License-Identifier: MIT */
#include "unwind/row_index.h"

/* On average, at least: two cache lines of them, and the index is a thirtieth of the rows. With 4, 8 or 32 a lookup
 * takes as long or longer. */
#define ROWS_PER_BUCKET 16
/* Fewer lie in half a page. */
#define ROWS_WORTH_AN_INDEX 256

struct row_buckets row_index_plan(const struct row *rows, size_t count)
{
    struct row_buckets buckets = {0};
    if (count < ROWS_WORTH_AN_INDEX)
        return buckets;
    while (rows[count - 1].start >> buckets.shift >= count / ROWS_PER_BUCKET)
        buckets.shift++;
    buckets.count = (rows[count - 1].start >> buckets.shift) + 1;
    return buckets;
}

void row_index_fill(uint32_t *words, struct row_buckets buckets, const struct row *rows,
                    size_t count)
{
    size_t row = 0;
    for (uint32_t i = 0; i < buckets.count; i++) {
        while (row + 1 < count && rows[row + 1].start <= i << buckets.shift)
            row++;
        words[i] = (uint32_t)row;
    }
}
