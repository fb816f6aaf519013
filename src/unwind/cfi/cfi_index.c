/* SPDX-License-Identifier: MIT */
#include "unwind/cfi/cfi_index.h"

#include "base/containers/array.h"
#include "base/containers/sort.h"

#include <errno.h>
#include <stdlib.h>

/* FDEs of malformed CIEs count as malformed. */
static int collect_cies(struct cfi_index *index, uint8_t number)
{
    const struct cfi_section *section = &index->sections[number];
    struct cfi_record record;
    size_t at = 0;
    while (cfi_next_record(section, &at, &record) == CFI_RECORD) {
        struct cfi_cie cie;
        if (!record.is_cie || cfi_parse_cie(section, &record, &cie) != 0)
            continue;
        cie.section = number;
        struct cfi_cie *kept = ARRAY_PUSH(index->cies, index->cie_count, index->cie_capacity);
        if (!kept)
            return -ENOMEM;
        *kept = cie;
    }
    return 0;
}

/* cies[first ..] are the CIEs of a section, by offset. Returns cie_count if the section has no CIE
 * at offset. */
static size_t find_cie(const struct cfi_index *index, size_t first, uint64_t offset)
{
    size_t low = first, high = index->cie_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->cies[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < index->cie_count && index->cies[low].offset == offset;
    return found ? low : index->cie_count;
}

static bool is_executable(const struct cfi_index *index, const struct cfi_fde *fde)
{
    return fde->start_svma >= index->base_svma && fde->end_svma > fde->start_svma &&
           fde->end_svma - index->base_svma <= index->size;
}

static int add_entry(struct cfi_index *index, const struct cfi_record *record,
                     const struct cfi_fde *fde, size_t cie)
{
    uint32_t number = index->cies[cie].section;
    struct cfi_entry *entry = ARRAY_PUSH(index->entries, index->entry_count, index->entry_capacity);
    if (!entry)
        return -ENOMEM;
    entry->start = (uint32_t)(fde->start_svma - index->base_svma);
    entry->end = (uint32_t)(fde->end_svma - index->base_svma);
    entry->place = number << 28 | (uint32_t)record->offset;
    entry->cie = (uint32_t)cie;
    return 0;
}

/* After all CIEs of the section: in .debug_frame, FDEs refer to any offset. Neighbours mostly share
 * a CIE, so the last CIE comes first. */
static int collect_fdes(struct cfi_index *index, uint8_t number, size_t first_cie)
{
    const struct cfi_section *section = &index->sections[number];
    struct cfi_record record;
    size_t cie = first_cie;
    size_t at = 0;
    enum cfi_next next;
    while ((next = cfi_next_record(section, &at, &record)) == CFI_RECORD) {
        if (record.is_cie)
            continue;
        if (cie >= index->cie_count || index->cies[cie].offset != record.cie_offset)
            cie = find_cie(index, first_cie, record.cie_offset);
        struct cfi_fde fde;
        if (cie == index->cie_count ||
            cfi_parse_fde(section, &index->cies[cie], &record, &fde) != 0)
            index->bad_fdes++;
        else if (is_executable(index, &fde) && add_entry(index, &record, &fde, cie) != 0)
            return -ENOMEM;
    }
    if (next == CFI_BROKEN)
        index->bad_fdes++;
    return 0;
}

static uint32_t section_of(const struct cfi_entry *entry)
{
    return entry->place >> 28;
}

static uint32_t offset_of(const struct cfi_entry *entry)
{
    return entry->place & ((UINT32_C(1) << 28) - 1);
}

/* See the table in the header; entries are sorted. */
static void resolve_overlaps(struct cfi_index *index)
{
    size_t kept = 0;
    for (size_t i = 0; i < index->entry_count; i++) {
        struct cfi_entry entry = index->entries[i];
        if (kept > 0) {
            struct cfi_entry *last = &index->entries[kept - 1];
            bool inside = entry.start < last->end;
            if (inside && (entry.start == last->start || section_of(&entry) > section_of(last)))
                continue;
            if (inside)
                last->end = entry.start;
        }
        index->entries[kept++] = entry;
    }
    index->entry_count = kept;
}

int cfi_index_build(struct cfi_index *index)
{
    index->cie_count = index->entry_count = 0;
    index->is_by_header = false;
    for (uint8_t i = 0; i < index->section_count; i++) {
        size_t first_cie = index->cie_count;
        int err = collect_cies(index, i);
        if (err == 0)
            err = collect_fdes(index, i, first_cie);
        if (err != 0)
            return err;
    }
    /* Equal starts stay in the order of addition, by place. */
    if (SORT_BY(index->entries, index->entry_count, start) != 0)
        return -ENOMEM;
    resolve_overlaps(index);
    return 0;
}

void cfi_index_free(struct cfi_index *index)
{
    free(index->cies);
    free(index->entries);
    free(index->first_of_page);
    *index = (struct cfi_index){0};
}

const struct cfi_entry *cfi_index_find(const struct cfi_index *index, uint32_t relative)
{
    size_t low = ARRAY_COUNT_UP_TO(index->entries, index->entry_count, start, relative);
    if (low == 0 || relative >= index->entries[low - 1].end)
        return NULL;
    return &index->entries[low - 1];
}

/* Parses the record again: an entry of 16 bytes has neither encoding nor instructions. */
bool cfi_index_walk(const struct cfi_index *index, const struct cfi_entry *entry,
                    struct cfi_walk *walk)
{
    const struct cfi_cie *cie = &index->cies[entry->cie];
    const struct cfi_section *section = &index->sections[section_of(entry)];
    struct cfi_record record;
    struct cfi_fde fde;
    size_t at = offset_of(entry);
    if (cfi_record_at(section, &at, &record) != CFI_RECORD || record.is_cie ||
        cfi_parse_fde(section, cie, &record, &fde) != 0)
        return false;
    cfi_walk_begin(walk, section, cie, &fde);
    return true;
}
