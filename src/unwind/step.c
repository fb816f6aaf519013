/* SPDX-License-Identifier: MIT */
#include "unwind/step.h"

#include "wire/atomic.h"

/*
 * Both searches keep "the answer is in [base, base + count)" and halve count without a branch that
 * depends on the data: the compiler makes the choice a conditional move, so nothing is
 * mispredicted.
 */

const struct wire_module *unwind_find_module(const struct wire_module *modules, size_t count,
                                             uint64_t pc)
{
    if (count == 0)
        return NULL;
    const struct wire_module *base = modules;
    while (count > 1) {
        size_t half = count / 2;
        base = base[half].start_avma <= pc ? base + half : base;
        count -= half;
    }
    return pc >= base->start_avma && pc < base->end_avma ? base : NULL;
}

uint32_t unwind_find_rule(const struct row *rows, size_t count, uint32_t relative)
{
    if (count == 0)
        return row_rule(ROW_NONE, ROW_FP_SAME, 0);
    const struct row *base = rows;
    while (count > 1) {
        size_t half = count / 2;
        base = base[half].start <= relative ? base + half : base;
        count -= half;
    }
    return base->start <= relative ? base->rule : row_rule(ROW_NONE, ROW_FP_SAME, 0);
}

uint32_t unwind_find_in_table(const struct row_table *table, uint32_t relative)
{
    if (table->bucket_count == 0)
        return unwind_find_rule(table->rows, table->count, relative);
    const uint32_t *words = (const uint32_t *)(const void *)(table->rows + table->count);
    uint32_t last_bucket = table->bucket_count - 1;
    uint32_t bucket = relative >> (table->bucket_shift & 31);
    bucket = bucket < last_bucket ? bucket : last_bucket;
    /* Each word once: other rows may be written over it meanwhile. */
    uint32_t first = load_relaxed(&words[bucket]);
    uint32_t last = bucket < last_bucket ? load_relaxed(&words[bucket + 1]) : table->count - 1;
    if (first > last || last >= table->count)
        return row_rule(ROW_NONE, ROW_FP_SAME, 0);
    return unwind_find_rule(table->rows + first, last - first + 1, relative);
}
