/* SPDX-License-Identifier: MIT */
/*
 * .eh_frame_hdr: a table of all FDEs of .eh_frame, sorted by address, which linkers make for whoever throws an
 * exception. As an index for those who ask for few addresses it saves reading all records, which is most of the time that an
 * index takes:
 *
 *     version 1 │ three encodings │ where .eh_frame is │ count │ start, FDE │ start, FDE │ …
 *                                                               └─ relative to the first byte here
 *
 * Nobody vouches for it. What the record itself says is what counts, and whoever misses an address has to look for
 * it in an index of all records.
 */
#pragma once

#include "base/containers/buffer.h"
#include "unwind/cfi/cfi_index.h"

/* Makes the table's FDEs the entries of an index, whose sections, base_svma and size are filled in; none of the
 * records has been read. The first section is .eh_frame. 0 and is_by_header is set; -EBADMSG: it is no such table, not
 * sorted, or leads out of the section or of the executable segments; -ENOMEM. */
int eh_frame_hdr_fill(struct cfi_index *index, const struct buffer *header, uint64_t header_svma);

/* The entry that holds an address (less the base), of an index by header; its record is read now. NULL: there is none,
 * or the table does not say what the record says. */
const struct cfi_entry *eh_frame_hdr_find(struct cfi_index *index, uint32_t relative);

/* The same table as it lies there. */
struct eh_frame_hdr {
    const uint8_t *entries; /* borrowed from the header */
    uint32_t count;
    uint64_t header_svma;
};

/* For indexes of those sections. 0, or -EBADMSG: it is no such table, or not sorted; where it leads has not been looked
 * at. */
int eh_frame_hdr_open(struct eh_frame_hdr *table, const struct cfi_index *index,
                      const struct buffer *header, uint64_t header_svma);

/* Makes those of its FDEs the entries of an index, which has none, that hold somewhere in [start, end), and the nearest
 * before and behind; it is_partial then, and none of the records has been read. 0 or -ENOMEM. */
int eh_frame_hdr_list(const struct eh_frame_hdr *table, struct cfi_index *index, uint32_t start,
                      uint64_t end);

/* The same with all records read. What is not as its record says is left out. */
int eh_frame_hdr_read_part(const struct eh_frame_hdr *table, struct cfi_index *index,
                           uint32_t start, uint64_t end);
