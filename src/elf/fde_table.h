/* SPDX-License-Identifier: MIT */
/*
 * The table of .eh_frame_hdr: all FDEs of .eh_frame, sorted by address, made by linkers for
 * exceptions.
 *
 *     version 1 │ three encodings │ address of .eh_frame │ count │ start, FDE │ start, FDE │ …
 *                                                                └─ relative to the first byte here
 *
 * The table is untrusted: addresses are not validated, and the order may be wrong.
 */
#pragma once

#include "base/containers/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FDE_TABLE_ENTRY_BYTES = 8 };

struct fde_table {
    const uint8_t *entries; /* borrowed from the section */
    uint32_t count;         /* 0: no table */
    uint64_t section_svma;
};

/* False: not as all linkers write the section, or longer than the section. */
bool fde_table_open(struct fde_table *table, struct cursor section, uint64_t section_svma);

/* A number of an entry, relative to the section. */
static inline uint64_t fde_table_value(const struct fde_table *table, uint32_t number,
                                       size_t offset)
{
    struct cursor c =
        cursor_of(table->entries + (size_t)number * FDE_TABLE_ENTRY_BYTES, FDE_TABLE_ENTRY_BYTES);
    cursor_skip(&c, offset);
    return table->section_svma + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
}

/* The start of the function of an entry below the count. */
static inline uint64_t fde_table_start_svma(const struct fde_table *table, uint32_t number)
{
    return fde_table_value(table, number, 0);
}

/* Its FDE. */
static inline uint64_t fde_table_record_svma(const struct fde_table *table, uint32_t number)
{
    return fde_table_value(table, number, 4);
}

/* How many entries start at an address or before, in a sorted table. */
uint32_t fde_table_count_up_to(const struct fde_table *table, uint64_t svma);
