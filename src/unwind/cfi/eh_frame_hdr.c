/* SPDX-License-Identifier: MIT */
/*
 * Two kinds of indexes from one table:
 *
 *     complete   all starts at once; a record is read at the first lookup of the function
 *     partial    the functions of a range, and the neighbours at both ends (rows/lazy_index.c)
 *
 *     entry      end == start: the record is unread, or contradicts the table: confirm()
 *
 * A partial index cannot fall back on all records, so gaps between functions are believed only if
 * the records at both sides were read.
 */
#include "unwind/cfi/eh_frame_hdr.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

enum {
    CIES_MOST = 256, /* cc1plus has 5 */
    CIE_BYTES_MOST =
        1024,        /* real CIEs have two dozen; a malformed CIE is parsed again for each FDE */
    PAGE_SHIFT = 12, /* half a dozen functions */
};

/* .eh_frame_hdr is of .eh_frame, the first section if there. */
static bool find_table(struct fde_table *table, const struct cfi_index *index,
                       const struct buffer *header, uint64_t header_svma)
{
    return index->section_count > 0 && !index->sections[0].is_debug_frame &&
           fde_table_open(table, cursor_of(header->bytes, header->size), header_svma) &&
           table->count > 0;
}

/* Sets the record's place; end == start marks records not read yet. False: outside of the section
 * or of the executable segments. */
static bool read_place(const struct fde_table *table, uint32_t number,
                       const struct cfi_index *index, struct cfi_entry *entry)
{
    const struct cfi_section *section = &index->sections[0];
    uint64_t start = fde_table_start_svma(table, number) - index->base_svma;
    uint64_t place = fde_table_record_svma(table, number) - section->svma;
    *entry = (struct cfi_entry){
        .start = (uint32_t)start, .end = (uint32_t)start, .place = (uint32_t)place};
    return start < index->size && place < section->size;
}

static bool read_entries(const struct fde_table *table, struct cfi_index *index)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (!read_place(table, i, index, &index->entries[i]) ||
            (i > 0 && index->entries[i].start <= index->entries[i - 1].start))
            return false;
    return true;
}

/* A binary search over all entries of a compiler took 0.1 us: every branch is mispredicted. */
static bool count_by_page(struct cfi_index *index)
{
    size_t pages = ((size_t)index->size >> PAGE_SHIFT) + 1, page = 0;
    free(index->first_of_page);
    index->first_of_page = malloc((pages + 1) * sizeof(*index->first_of_page));
    if (!index->first_of_page)
        return false;
    for (size_t i = 0; i < index->entry_count; i++)
        while (page <= index->entries[i].start >> PAGE_SHIFT)
            index->first_of_page[page++] = (uint32_t)i;
    while (page <= pages)
        index->first_of_page[page++] = (uint32_t)index->entry_count;
    return true;
}

/* How many entries start at an address or before. */
static size_t count_up_to(const struct cfi_index *index, uint32_t relative)
{
    if (relative >= index->size)
        return index->entry_count;
    if (index->is_partial)
        return ARRAY_COUNT_UP_TO(index->entries, index->entry_count, start, relative);
    const uint32_t *first = &index->first_of_page[relative >> PAGE_SHIFT];
    return first[0] +
           ARRAY_COUNT_UP_TO(index->entries + first[0], first[1] - first[0], start, relative);
}

/* Starts and places only: records are read at the first lookup, by confirm(). */
int eh_frame_hdr_fill(struct cfi_index *index, const struct buffer *header, uint64_t header_svma)
{
    struct fde_table table;
    if (!find_table(&table, index, header, header_svma))
        return -EBADMSG;
    if (array_reserve((void **)&index->entries, &index->entry_capacity, table.count,
                      sizeof(*index->entries)) != 0)
        return -ENOMEM;
    if (!read_entries(&table, index))
        return -EBADMSG;
    index->entry_count = table.count;
    index->is_by_header = count_by_page(index);
    return index->is_by_header ? 0 : -ENOMEM;
}

static bool read_cie(struct cfi_index *index, uint64_t offset)
{
    struct cfi_record record;
    size_t at = (size_t)offset;
    struct cfi_cie cie;
    if (index->cie_count == CIES_MOST || offset > CFI_SECTION_BYTES_MAX ||
        cfi_record_at(&index->sections[0], &at, &record) != CFI_RECORD || !record.is_cie ||
        cursor_left(&record.body) > CIE_BYTES_MOST ||
        cfi_parse_cie(&index->sections[0], &record, &cie) != 0)
        return false;
    struct cfi_cie *kept = ARRAY_PUSH(index->cies, index->cie_count, index->cie_capacity);
    if (kept)
        *kept = cie;
    return kept;
}

static bool find_cie(struct cfi_index *index, uint64_t offset, size_t *number)
{
    for (*number = 0; *number < index->cie_count; ++*number)
        if (index->cies[*number].offset == offset)
            return true;
    return read_cie(index, offset);
}

/* Records do not overlap, but a hostile table may lead into the middle of records, all of which
 * extend to the section's end: compiling these would take quadratic time. */
static bool fits_section(struct cfi_index *index, size_t record_bytes)
{
    if (record_bytes > index->sections[0].size - index->record_bytes ||
        (index->shared_bytes && record_bytes > *index->shared_bytes))
        return false;
    index->record_bytes += record_bytes;
    if (index->shared_bytes)
        *index->shared_bytes -= record_bytes;
    return true;
}

/* Reads the function's end and CIE. False: no FDE with this start at the place. */
static bool read_record(struct cfi_index *index, struct cfi_entry *entry)
{
    struct cfi_record record;
    struct cfi_fde fde;
    size_t at = entry->place, cie;
    if (cfi_record_at(&index->sections[0], &at, &record) != CFI_RECORD || record.is_cie ||
        !find_cie(index, record.cie_offset, &cie) ||
        cfi_parse_fde(&index->sections[0], &index->cies[cie], &record, &fde) != 0 ||
        fde.start_svma != index->base_svma + entry->start || fde.end_svma <= fde.start_svma ||
        fde.end_svma - index->base_svma > index->size || !fits_section(index, at - entry->place))
        return false;
    entry->end = (uint32_t)(fde.end_svma - index->base_svma);
    entry->cie = (uint32_t)cie;
    return true;
}

static bool read_entry(struct cfi_index *index, struct cfi_entry *entry)
{
    if (!read_record(index, entry))
        return false;
    const struct cfi_entry *next = entry + 1;
    if (next < index->entries + index->entry_count && next->start < entry->end)
        entry->end = next->start;
    return true;
}

/* Reads the record, unless done before. A partial index loses the entry point with a malformed
 * entry, since the entry point may lie there. */
static bool confirm(struct cfi_index *index, struct cfi_entry *entry)
{
    if (entry->end != entry->start || read_entry(index, entry))
        return true;
    index->has_entry &= !index->is_partial;
    return false;
}

const struct cfi_entry *eh_frame_hdr_find(struct cfi_index *index, uint32_t relative)
{
    size_t low = count_up_to(index, relative);
    struct cfi_entry *entry = low ? &index->entries[low - 1] : NULL;
    if (entry && !confirm(index, entry))
        return NULL;
    if (entry && relative < entry->end)
        return entry;
    if (index->is_partial && low < index->entry_count)
        confirm(index, &index->entries[low]); /* the end of the gap */
    return NULL;
}

static bool is_in_order(const struct fde_table *table)
{
    for (uint32_t i = 1; i < table->count; i++)
        if (fde_table_start_svma(table, i) <= fde_table_start_svma(table, i - 1))
            return false;
    return true;
}

int eh_frame_hdr_open(struct fde_table *table, const struct cfi_index *index,
                      const struct buffer *header, uint64_t header_svma)
{
    return find_table(table, index, header, header_svma) && is_in_order(table) ? 0 : -EBADMSG;
}

/* From the function at or before the range on, up to the first function behind: their records bound
 * the gaps at both ends. */
int eh_frame_hdr_list(const struct fde_table *table, struct cfi_index *index, uint32_t start,
                      uint64_t end)
{
    uint32_t up_to = fde_table_count_up_to(table, index->base_svma + start);
    bool is_behind = false;
    index->is_by_header = index->is_partial = true;
    for (uint32_t i = up_to ? up_to - 1 : 0; i < table->count && !is_behind; i++) {
        struct cfi_entry entry;
        is_behind = fde_table_start_svma(table, i) >= index->base_svma + end;
        if (!read_place(table, i, index, &entry)) {
            index->has_entry = false;
            continue;
        }
        struct cfi_entry *place =
            ARRAY_PUSH(index->entries, index->entry_count, index->entry_capacity);
        if (!place)
            return -ENOMEM;
        *place = entry;
    }
    return 0;
}

int eh_frame_hdr_read_part(const struct fde_table *table, struct cfi_index *index, uint32_t start,
                           uint64_t end)
{
    int err = eh_frame_hdr_list(table, index, start, end);
    size_t kept = 0;
    for (size_t i = 0; i < index->entry_count; i++) {
        struct cfi_entry entry = index->entries[i];
        if (!read_record(index, &entry)) {
            index->has_entry = false; /* may lie in the part left out */
            continue;
        }
        if (kept && index->entries[kept - 1].end > entry.start)
            index->entries[kept - 1].end = entry.start;
        index->entries[kept++] = entry;
    }
    index->entry_count = kept;
    return err;
}
