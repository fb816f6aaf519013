/* SPDX-License-Identifier: MIT */
#include "unwind/rows/lazy_rules.h"

#include "base/containers/array.h"
#include "unwind/cfi/eh_frame_hdr.h"
#include "unwind/rows/row_room.h"
#include "unwind/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lazy_rules {
    struct cfi_index *index;      /* borrowed */
    struct compiled_rows rows;    /* of the entries looked up so far, in order of lookup */
    struct compiled_rows scratch; /* of the last of them */
    struct lazy_range {
        uint32_t first, count; /* in rows; count 0: not looked up yet */
    } * of_entries;            /* by number of the entry in the index */
    size_t held_bytes;         /* of the room */
};

static void hold_room(struct lazy_rules *lazy)
{
    const struct cfi_index *index = lazy->index;
    row_room_hold(index->room, &lazy->held_bytes,
                  sizeof(*lazy) + sizeof(*index) +
                      (lazy->rows.capacity + lazy->scratch.capacity) * sizeof(struct row) +
                      index->entry_capacity * sizeof(struct cfi_entry) +
                      index->cie_capacity * sizeof(struct cfi_cie) +
                      index->entry_count * sizeof(*lazy->of_entries));
}

/* For a new index: ranges and rows of the index before are dropped. */
static int make_room(struct lazy_rules *lazy)
{
    free(lazy->of_entries);
    lazy->of_entries = calloc(lazy->index->entry_count + 1, sizeof(*lazy->of_entries));
    lazy->rows.count = 0;
    hold_room(lazy);
    return lazy->of_entries ? 0 : -ENOMEM;
}

int lazy_rules_new(struct lazy_rules **out, struct cfi_index *index)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    (*out)->index = index;
    return make_room(*out);
}

void lazy_rules_free(struct lazy_rules *lazy)
{
    if (!lazy)
        return;
    row_room_hold(lazy->index->room, &lazy->held_bytes, 0);
    compile_free(&lazy->rows);
    compile_free(&lazy->scratch);
    free(lazy->of_entries);
    free(lazy);
}

static uint32_t rule_of_kind(enum row_kind kind)
{
    return row_rule(kind, ROW_FP_SAME, 0);
}

/* Ranges are numbers of rows: the array moves as it grows. Rows are compiled apart first:
 * append() would merge the first row with an equal last row of another entry. */
static int compile(struct lazy_rules *lazy, size_t number)
{
    const struct cfi_index *index = lazy->index;
    struct compiled_rows *rows = &lazy->rows, *scratch = &lazy->scratch;
    struct lazy_range *range = &lazy->of_entries[number];
    scratch->count = 0;
    int err = compile_entry(index, &index->entries[number], scratch);
    if (err == 0)
        err = array_reserve((void **)&rows->rows, &rows->capacity, rows->count + scratch->count,
                            sizeof(*rows->rows));
    if (err != 0)
        return err;
    memcpy(rows->rows + rows->count, scratch->rows, scratch->count * sizeof(*rows->rows));
    *range = (struct lazy_range){(uint32_t)rows->count, (uint32_t)scratch->count};
    rows->count += scratch->count;
    hold_room(lazy);
    return 0;
}

static uint32_t rule_in_entry(struct lazy_rules *lazy, size_t number, uint32_t relative)
{
    const struct lazy_range *range = &lazy->of_entries[number];
    if (range->count == 0 && (!row_room_is_left(lazy->index->room) || compile(lazy, number) != 0))
        return rule_of_kind(ROW_NONE);
    return unwind_find_rule(lazy->rows.rows + range->first, range->count, relative);
}

/* False: the record could not be read. */
static bool is_sound(const struct cfi_entry *entry)
{
    return entry->end > entry->start;
}

/* The entry function is a root without CFI, too: append_gap() of compile.c. Gaps around clone()'s
 * system call follow from their neighbours. next: the entry behind the gap. */
static uint32_t rule_in_gap(struct lazy_rules *lazy, size_t next, uint32_t relative)
{
    const struct cfi_index *index = lazy->index;
    const struct cfi_entry *entries = index->entries;
    uint32_t gap_start = next ? entries[next - 1].end : 0;
    bool is_last = next == index->entry_count;
    if (index->has_entry && index->entry >= gap_start && index->entry_count &&
        (is_last || index->entry < entries[next].start))
        return rule_of_kind(cfi_index_is_entry(index, relative) ? ROW_END : ROW_NONE);
    if (next == 0 || is_last || !is_sound(&entries[next - 1]) || !is_sound(&entries[next]))
        return rule_of_kind(ROW_NONE);
    return compile_gap_rule(rule_in_entry(lazy, next - 1, gap_start - 1),
                            rule_in_entry(lazy, next, entries[next].start),
                            entries[next].start - gap_start);
}

/* Replaces an index by header with an index of all records, for addresses missing in .eh_frame_hdr.
 * False: out of memory. */
static bool index_all(struct lazy_rules *lazy)
{
    struct cfi_index *index = lazy->index;
    if (!lazy->of_entries)
        return false;
    if (!index->is_by_header)
        return true;
    if (cfi_index_build(index) != 0)
        index->entry_count = 0;
    return make_room(lazy) == 0;
}

static const struct cfi_entry *find(struct lazy_rules *lazy, uint32_t relative)
{
    struct cfi_index *index = lazy->index;
    const struct cfi_entry *entry = index->is_by_header ? eh_frame_hdr_find(index, relative) : NULL;
    if (entry || index->is_partial)
        return entry;
    return index_all(lazy) ? cfi_index_find(index, relative) : NULL;
}

bool lazy_rules_walk(struct lazy_rules *lazy, uint32_t relative, struct cfi_walk *walk)
{
    const struct cfi_entry *entry = find(lazy, relative);
    return entry && cfi_index_walk(lazy->index, entry, walk);
}

uint32_t lazy_rules_find(struct lazy_rules *lazy, uint32_t relative)
{
    const struct cfi_index *index = lazy->index;
    const struct cfi_entry *entry = find(lazy, relative);
    if (!entry)
        return rule_in_gap(
            lazy, ARRAY_COUNT_UP_TO(index->entries, index->entry_count, start, relative), relative);
    return rule_in_entry(lazy, (size_t)(entry - index->entries), relative);
}
