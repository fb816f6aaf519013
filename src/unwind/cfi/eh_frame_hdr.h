/* SPDX-License-Identifier: MIT */
/*
 * An index from the table of .eh_frame_hdr (elf/fde_table.h): saves reading all records, most of
 * the work for an index. The record itself decides, and addresses missing in the table are looked
 * up in an index of all records.
 */
#pragma once

#include "base/containers/buffer.h"
#include "elf/fde_table.h"
#include "unwind/cfi/cfi_index.h"

/* Makes the table's FDEs the entries of an index (with sections, base_svma and size set, .eh_frame
 * first), all records unread. 0, with is_by_header set; -EBADMSG: malformed, not sorted, or
 * pointing outside of the section or of the executable segments; -ENOMEM. */
int eh_frame_hdr_fill(struct cfi_index *index, const struct buffer *header, uint64_t header_svma);

/* The entry around an address (less the base) of an index by header; reads the record. NULL: no
 * entry, or a record that contradicts the table. */
const struct cfi_entry *eh_frame_hdr_find(struct cfi_index *index, uint32_t relative);

/* 0, or -EBADMSG: malformed, or not sorted. Places are not validated yet. */
int eh_frame_hdr_open(struct fde_table *table, const struct cfi_index *index,
                      const struct buffer *header, uint64_t header_svma);

/* Adds the FDEs in [start, end), with the nearest before and behind, to an empty index, which
 * becomes partial; all records unread. 0 or -ENOMEM. */
int eh_frame_hdr_list(const struct fde_table *table, struct cfi_index *index, uint32_t start,
                      uint64_t end);

/* The same with all records read; entries that contradict their record are left out. */
int eh_frame_hdr_read_part(const struct fde_table *table, struct cfi_index *index, uint32_t start,
                           uint64_t end);
