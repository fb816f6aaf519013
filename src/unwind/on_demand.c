/* SPDX-License-Identifier: MIT */
#include "unwind/on_demand.h"

#include "base/array.h"
#include "unwind/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct on_demand {
    struct compiled_rows rows;    /* of the entries that were asked for, one after the other */
    struct compiled_rows scratch; /* of the last of them */
    struct on_demand_rows {
        uint32_t first, count; /* in rows; none: not asked for yet */
    } of_entries[];            /* by number of the entry in the index */
};

int on_demand_new(struct on_demand **out, const struct cfi_index *index)
{
    *out = calloc(1, sizeof(**out) + index->entry_count * sizeof((*out)->of_entries[0]));
    return *out ? 0 : -ENOMEM;
}

void on_demand_free(struct on_demand *demand)
{
    if (!demand)
        return;
    compile_free(&demand->rows);
    compile_free(&demand->scratch);
    free(demand);
}

static uint32_t rule_of_kind(enum row_kind kind)
{
    return row_rule(kind, ROW_FP_SAME, 0);
}

/* next: the entry behind the gap. */
static uint32_t rule_in_gap(const struct cfi_index *index, size_t next, uint32_t relative)
{
    bool is_behind_entry_point = index->has_entry && index->entry <= relative;
    uint32_t gap_start = next ? index->entries[next - 1].end : 0;
    bool is_root = is_behind_entry_point && index->entry >= gap_start && index->entry_count;
    return rule_of_kind(is_root ? ROW_END : ROW_NONE);
}

static int compile(struct on_demand *demand, const struct cfi_index *index, size_t number)
{
    struct compiled_rows *rows = &demand->rows, *scratch = &demand->scratch;
    struct on_demand_rows *range = &demand->of_entries[number];
    scratch->count = 0;
    int err = compile_entry(index, &index->entries[number], scratch);
    if (err == 0)
        err = array_reserve((void **)&rows->rows, &rows->capacity, rows->count + scratch->count,
                            sizeof(*rows->rows));
    if (err != 0)
        return err;
    memcpy(rows->rows + rows->count, scratch->rows, scratch->count * sizeof(*rows->rows));
    *range = (struct on_demand_rows){(uint32_t)rows->count, (uint32_t)scratch->count};
    rows->count += scratch->count;
    return 0;
}

uint32_t on_demand_rule(struct on_demand *demand, const struct cfi_index *index, uint32_t relative)
{
    size_t next = ARRAY_COUNT_UP_TO(index->entries, index->entry_count, start, relative);
    if (next == 0 || relative >= index->entries[next - 1].end)
        return rule_in_gap(index, next, relative);
    const struct on_demand_rows *range = &demand->of_entries[next - 1];
    if (range->count == 0 && compile(demand, index, next - 1) != 0)
        return rule_of_kind(ROW_NONE);
    return unwind_find_rule(demand->rows.rows + range->first, range->count, relative);
}
