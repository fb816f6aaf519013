/* SPDX-License-Identifier: MIT */
#include "unwind/on_demand.h"

#include "base/containers/array.h"
#include "unwind/cfi_header.h"
#include "unwind/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct on_demand {
    struct cfi_index *index;      /* borrowed */
    struct compiled_rows rows;    /* of the entries that were asked for, one after the other */
    struct compiled_rows scratch; /* of the last of them */
    struct on_demand_rows {
        uint32_t first, count; /* in rows; none: not asked for yet */
    } * of_entries;            /* by number of the entry in the index */
};

static int make_room(struct on_demand *demand)
{
    free(demand->of_entries);
    demand->of_entries = calloc(demand->index->entry_count + 1, sizeof(*demand->of_entries));
    demand->rows.count = 0;
    return demand->of_entries ? 0 : -ENOMEM;
}

int on_demand_new(struct on_demand **out, struct cfi_index *index)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    (*out)->index = index;
    return make_room(*out);
}

void on_demand_free(struct on_demand *demand)
{
    if (!demand)
        return;
    compile_free(&demand->rows);
    compile_free(&demand->scratch);
    free(demand->of_entries);
    free(demand);
}

static uint32_t rule_of_kind(enum row_kind kind)
{
    return row_rule(kind, ROW_FP_SAME, 0);
}

static int compile(struct on_demand *demand, size_t number)
{
    const struct cfi_index *index = demand->index;
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

static uint32_t rule_in_entry(struct on_demand *demand, size_t number, uint32_t relative)
{
    const struct on_demand_rows *range = &demand->of_entries[number];
    if (range->count == 0 && compile(demand, number) != 0)
        return rule_of_kind(ROW_NONE);
    return unwind_find_rule(demand->rows.rows + range->first, range->count, relative);
}

/* False: its record could not be read. */
static bool is_sound(const struct cfi_entry *entry)
{
    return entry->end > entry->start;
}

/* next: the entry behind the gap. */
static uint32_t rule_in_gap(struct on_demand *demand, size_t next, uint32_t relative)
{
    const struct cfi_index *index = demand->index;
    const struct cfi_entry *entries = index->entries;
    uint32_t gap_start = next ? entries[next - 1].end : 0;
    bool is_last = next == index->entry_count;
    if (index->has_entry && index->entry >= gap_start && index->entry_count &&
        (is_last || index->entry < entries[next].start))
        return rule_of_kind(index->entry <= relative ? ROW_END : ROW_NONE);
    if (next == 0 || is_last || !is_sound(&entries[next - 1]) || !is_sound(&entries[next]))
        return rule_of_kind(ROW_NONE);
    return compile_gap_rule(rule_in_entry(demand, next - 1, gap_start - 1),
                            rule_in_entry(demand, next, entries[next].start),
                            entries[next].start - gap_start);
}

/* An index of all records, which knows what .eh_frame_hdr left out. False: memory is out. */
static bool index_all(struct on_demand *demand)
{
    struct cfi_index *index = demand->index;
    if (!demand->of_entries)
        return false;
    if (!index->is_by_header)
        return true;
    if (cfi_index_build(index) != 0)
        index->entry_count = 0;
    return make_room(demand) == 0;
}

static const struct cfi_entry *find(struct on_demand *demand, uint32_t relative)
{
    struct cfi_index *index = demand->index;
    const struct cfi_entry *entry = index->is_by_header ? cfi_header_find(index, relative) : NULL;
    if (entry || index->is_of_piece)
        return entry;
    return index_all(demand) ? cfi_index_find(index, relative) : NULL;
}

bool on_demand_walk(struct on_demand *demand, uint32_t relative, struct cfi_walk *walk)
{
    const struct cfi_entry *entry = find(demand, relative);
    return entry && cfi_index_walk(demand->index, entry, walk);
}

uint32_t on_demand_rule(struct on_demand *demand, uint32_t relative)
{
    const struct cfi_index *index = demand->index;
    const struct cfi_entry *entry = find(demand, relative);
    if (!entry)
        return rule_in_gap(demand,
                           ARRAY_COUNT_UP_TO(index->entries, index->entry_count, start, relative),
                           relative);
    return rule_in_entry(demand, (size_t)(entry - index->entries), relative);
}
