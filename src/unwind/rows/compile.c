/* SPDX-License-Identifier: MIT */
#include "unwind/rows/compile.h"

#include "base/containers/array.h"
#include "unwind/arch/arch.h"
#include "unwind/arch/machine.h"
#include "wire/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The largest function of cc1plus has 7 thousand; without a limit, a record of advances alone could
 * fill the memory. */
#define ROWS_OF_ENTRY_MAX (SESSION_ROWS / 16)

/* Appends a rule from `start` on. Equal neighbours are merged. */
static int append(struct compiled_rows *out, uint32_t start, uint32_t rule)
{
    if (out->count && out->rows[out->count - 1].rule == rule)
        return 0;
    if (out->count == out->capacity &&
        array_reserve((void **)&out->rows, &out->capacity, out->count + 1, sizeof(*out->rows)) != 0)
        return -ENOMEM;
    out->rows[out->count++] = (struct row){.start = start, .rule = rule};
    return 0;
}

/* The sampler needs no rows of other machines; here only ends of stacks matter. */
static uint32_t rule_of(const struct cfi_cie *cie, const struct cfi_walk *walk)
{
    const struct unwind_machine *machine = walk->section->machine;
    if (!machine || machine == unwind_machine_own())
        return arch_rule(cie, &walk->row);
    bool is_end = walk->row.regs[cie->return_register].kind == CFI_UNDEFINED;
    return row_rule(is_end ? ROW_END : ROW_COMPLEX, ROW_FP_SAME, 0);
}

int compile_entry(const struct cfi_index *index, const struct cfi_entry *entry,
                  struct compiled_rows *out)
{
    struct cfi_walk walk;
    size_t before = out->count;
    uint64_t entry_end_svma = index->base_svma + entry->end;
    bool sound = cfi_index_walk(index, entry, &walk);
    while (sound && cfi_walk_next(&walk)) {
        if (walk.start_svma >= entry_end_svma)
            continue; /* another entry's, but the instructions still have to be sound */
        uint32_t start = (uint32_t)(walk.start_svma - index->base_svma);
        sound = out->count - before < ROWS_OF_ENTRY_MAX;
        if (append(out, start, rule_of(&index->cies[entry->cie], &walk)) != 0)
            return -ENOMEM;
    }
    if (sound && !walk.failed)
        return 0;
    out->bad_fdes++;
    out->count = before;
    return append(out, entry->start, row_rule(ROW_NONE, ROW_FP_SAME, 0));
}

uint32_t compile_gap_rule(uint32_t before, uint32_t after, uint32_t gap_bytes)
{
    enum { CLONE_GAP_BYTES = 16 };
    bool is_clone = gap_bytes <= CLONE_GAP_BYTES && row_kind(after) == ROW_END;
    return is_clone ? arch_clone_rule(before) : row_rule(ROW_NONE, ROW_FP_SAME, 0);
}

/*
 * Code without CFI. The entry function is a root nevertheless: the entry of glibc's dynamic linker
 * (2.36) has no FDE, and every constructor runs below. Programs without CFI (musl) have all of
 * their other functions behind the entry function.
 */
static int append_gap(const struct cfi_index *index, uint32_t start, uint32_t end,
                      struct compiled_rows *out)
{
    bool has_root = index->has_entry && index->entry >= start && index->entry < end;
    int err = append(out, start, row_rule(ROW_NONE, ROW_FP_SAME, 0));
    if (err == 0 && has_root)
        err = append(out, index->entry, row_rule(ROW_END, ROW_FP_SAME, 0));
    if (err == 0 && has_root && end - index->entry > CFI_ENTRY_BYTES_MAX)
        err = append(out, index->entry + CFI_ENTRY_BYTES_MAX, row_rule(ROW_NONE, ROW_FP_SAME, 0));
    return err;
}

/* Appends the entry, and the gap from `covered` up to the entry. */
static int append_entry(const struct cfi_index *index, const struct cfi_entry *entry,
                        uint32_t covered, struct compiled_rows *out)
{
    size_t gap = out->count;
    int err = entry->start > covered ? append_gap(index, covered, entry->start, out) : 0;
    size_t first = out->count;
    if (err == 0)
        err = compile_entry(index, entry, out);
    bool is_between = gap > 0 && first == gap + 1 && first < out->count;
    if (err == 0 && is_between)
        out->rows[gap].rule = compile_gap_rule(out->rows[gap - 1].rule, out->rows[first].rule,
                                               entry->start - covered);
    return err;
}

/* Drops rows that end before the range, or start behind. */
static void trim(struct compiled_rows *out, uint32_t start, uint64_t end)
{
    size_t before = ARRAY_COUNT_UP_TO(out->rows, out->count, start, start);
    size_t dropped = before ? before - 1 : 0;
    size_t kept = ARRAY_COUNT_BELOW(out->rows, out->count, start, end);
    out->count = kept > dropped ? kept - dropped : 0;
    if (dropped)
        memmove(out->rows, out->rows + dropped, out->count * sizeof(*out->rows));
}

/* A function may begin before the range: its rows are compiled from its start on, then trimmed. A
 * gap ends at the next entry, maybe behind the range. */
int compile_rows(const struct cfi_index *index, uint32_t start, uint64_t end,
                 struct compiled_rows *out)
{
    size_t next = ARRAY_COUNT_UP_TO(index->entries, index->entry_count, start, start);
    if (next && index->entries[next - 1].end > start)
        next--; /* starts before the range, or at its start */
    uint32_t covered = next ? index->entries[next - 1].end : 0; /* rules are complete up to here */
    int err = 0;
    for (; next < index->entry_count && index->entries[next].start < end && err == 0; next++) {
        const struct cfi_entry *entry = &index->entries[next];
        if (out->count > SESSION_ROWS)
            return -EFBIG;
        err = append_entry(index, entry, covered, out);
        covered = entry->end;
    }
    if (err == 0 && covered < end && (index->entry_count || index->is_partial))
        err = append_gap(index, covered,
                         next < index->entry_count ? index->entries[next].start : UINT32_MAX, out);
    trim(out, start, end);
    return err;
}

void compile_free(struct compiled_rows *compiled)
{
    free(compiled->rows);
    *compiled = (struct compiled_rows){0};
}
