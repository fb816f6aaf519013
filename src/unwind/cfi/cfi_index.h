/* SPDX-License-Identifier: MIT */
/*
 * All FDEs of a file's sections, sorted by address, so that the one of an address is found by binary
 * search. Addresses are kept relative to a base, and only those of the file's executable segments:
 * linkers leave FDEs of discarded functions behind, at address 0 or thereabouts.
 *
 * Where FDEs overlap, each address belongs to one of them all the same:
 *
 *     starts are different      the later start has it from there on
 *     starts are equal          .eh_frame before .debug_frame, then the first in the section
 *     .debug_frame starting     is left out: .eh_frame knows better
 *     inside one of .eh_frame
 */
#pragma once

#include "unwind/cfi/cfi.h"

#include <stddef.h>
#include <stdint.h>

enum { CFI_SECTIONS_MAX = 2 };

struct cfi_entry {
    uint32_t start; /* svma less the base */
    uint32_t end;   /* where the next entry begins at the latest */
    uint32_t place; /* section number << 28 | offset of the record in it */
    uint32_t cie;   /* index into cies */
};
_Static_assert(CFI_SECTION_BYTES_MAX <= UINT32_C(1) << 28 && CFI_SECTIONS_MAX <= 16,
               "a place holds both");

struct cfi_index {
    struct cfi_section sections[CFI_SECTIONS_MAX]; /* in the order of preference */
    size_t section_count;
    uint64_t base_svma; /* the executable segments lie in [base, base + size) */
    uint32_t size;
    bool has_entry; /* a program: `entry` is its entry point, less the base */
    uint32_t entry;
    struct cfi_cie *cies; /* by section and offset */
    size_t cie_count, cie_capacity;
    struct cfi_entry *entries; /* by start; do not overlap */
    size_t entry_count, entry_capacity;
    size_t bad_fdes;     /* malformed, or without a well-formed CIE */
    bool is_by_header;   /* entries are .eh_frame_hdr's, see cfi_header.h */
    bool is_partial;     /* so they are, but not all of them */
    size_t record_bytes; /* by header: of the records that were read, at most the section's */
    /* Of all: by 4 KiB of addresses, and one more, how many entries start before. */
    uint32_t *first_of_page;
};

/* Fills in cies and entries from sections, base_svma and size, in place of those there are. 0 or -ENOMEM. */
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

/* The entry that holds an address (less the base), or NULL. */
const struct cfi_entry *cfi_index_find(const struct cfi_index *index, uint32_t relative);

/* Walks the rows of an entry; the walk's FDE may reach further than the entry does. False: its record
 * is malformed, which cannot be for entries of the index. */
bool cfi_index_walk(const struct cfi_index *index, const struct cfi_entry *entry,
                    struct cfi_walk *walk);
