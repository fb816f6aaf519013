/* SPDX-License-Identifier: MIT */
/*
 * All FDEs of a file's sections, sorted by address, for binary search. Addresses are relative to a
 * base. Only FDEs of executable segments are kept: linkers leave FDEs of discarded functions
 * behind, at addresses around 0.
 *
 * Overlaps:
 *
 *     different starts          the later start applies from there on
 *     equal starts              .eh_frame before .debug_frame, then the first in the section
 *     .debug_frame starts       left out: .eh_frame is more reliable
 *     inside .eh_frame
 */
#pragma once

#include "unwind/cfi/cfi.h"

#include <stddef.h>
#include <stdint.h>

enum { CFI_SECTIONS_MAX = 2 };

struct cfi_entry {
    uint32_t start; /* svma less the base */
    uint32_t end;   /* where the next entry begins at the latest */
    uint32_t place; /* section number << 28 | offset of the record */
    uint32_t cie;   /* index into cies */
};
_Static_assert(CFI_SECTION_BYTES_MAX <= UINT32_C(1) << 28 && CFI_SECTIONS_MAX <= 16,
               "a place holds both");

struct row_room;

struct cfi_index {
    struct cfi_section sections[CFI_SECTIONS_MAX]; /* in the order of preference */
    size_t section_count;
    uint64_t base_svma; /* the executable segments lie in [base, base + size) */
    uint32_t size;
    bool has_entry; /* a program: `entry` is the entry point, less the base */
    uint32_t entry;
    struct cfi_cie *cies; /* by section and offset */
    size_t cie_count, cie_capacity;
    struct cfi_entry *entries; /* by start; do not overlap */
    size_t entry_count, entry_capacity;
    size_t bad_fdes;     /* malformed, or without a well-formed CIE */
    bool is_by_header;   /* entries are .eh_frame_hdr's, see eh_frame_hdr.h */
    bool is_partial;     /* so they are, but not all of them */
    size_t record_bytes; /* by header: sum of the records read so far, at most the section's size */
    /* Partial: record bytes that all pieces of the file may still read together; NULL: no limit. */
    size_t *shared_bytes;
    struct row_room *room; /* of the rules by this index; NULL: no limit */
    /* Complete index by header: number of entries that start below each 4 KiB page; the last
     * element is for the end. */
    uint32_t *first_of_page;
};

/* Replaces cies and entries by those of sections, within base_svma and size. 0 or -ENOMEM. */
int cfi_index_build(struct cfi_index *index);
void cfi_index_free(struct cfi_index *index);

/* Whether an address (less the base) without CFI belongs to the entry function: such functions are
 * shorter than CFI_ENTRY_BYTES_MAX. */
#define CFI_ENTRY_BYTES_MAX 128
static inline bool cfi_index_is_entry(const struct cfi_index *index, uint32_t relative)
{
    return index->has_entry && relative >= index->entry &&
           relative - index->entry < CFI_ENTRY_BYTES_MAX;
}

/* The entry around an address (less the base), or NULL. */
const struct cfi_entry *cfi_index_find(const struct cfi_index *index, uint32_t relative);

/* Starts a walk over the rows of an entry; the walk's FDE may extend beyond the entry. False: a
 * malformed record, impossible for entries of the index. */
bool cfi_index_walk(const struct cfi_index *index, const struct cfi_entry *entry,
                    struct cfi_walk *walk);
