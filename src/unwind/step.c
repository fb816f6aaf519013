/* SPDX-License-Identifier: MIT */
#include "unwind/step.h"

#include "wire/atomic.h"

/*
 * Both searches keep the answer in [base, base + count) and halve count without a data-dependent
 * branch: the compiler emits conditional moves, so nothing is mispredicted.
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

bool unwind_find_in_table(const struct row_table *table, uint32_t relative, uint32_t *rule)
{
    *rule = row_rule(ROW_NONE, ROW_FP_SAME, 0);
    uint32_t bucket = relative >> (table->bucket_shift & 31);
    if (bucket >= table->bucket_count)
        return true;
    uint64_t word = load_acquire(&table->buckets[bucket]);
    uint64_t first = row_bucket_first(word), count = row_bucket_count(word);
    if (first + count <= table->row_count)
        *rule = unwind_find_rule(table->rows + first, count, relative);
    return count > 0;
}
