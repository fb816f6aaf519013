/* SPDX-License-Identifier: MIT */
/*
 * A module's CFI by pieces of its code. Of the records of .eh_frame only those are read that .eh_frame_hdr lists for a
 * piece, and its nearest neighbours:
 *
 *     .eh_frame_hdr   …│ f │ g │ h │ i │ j │…         an index of g, h, i and of f and j, which say where the gaps
 *     code            ─┤ ──┼─ piece ───┼── ├─         before and behind begin and end
 *
 * What the table does not list, or says otherwise than the record, has no CFI, as for those who throw exceptions: their
 * unwinder looks nowhere else.
 */
#pragma once

#include "base/containers/buffer.h"
#include "unwind/rows/lazy_rules.h"

struct lazy_index; /* opaque */

/* all: its sections and bounds, of which the first is .eh_frame; header: borrowed. -EBADMSG: it is no table that linkers
 * make; -ENOMEM. */
int lazy_index_new(struct lazy_index **out, const struct cfi_index *all,
                   const struct buffer *header, uint64_t header_svma);
void lazy_index_free(struct lazy_index *pieces);

/* That the table lists. */
size_t lazy_index_fdes(const struct lazy_index *pieces);

/* As compile_rows(). By any thread. */
int lazy_index_compile(const struct lazy_index *pieces, uint32_t start, uint64_t end,
                       struct compiled_rows *out);

/* Where the rules are found of an address less the base, inside the bounds. By one thread; NULL: memory is out. */
struct lazy_rules *lazy_index_rules(struct lazy_index *pieces, uint32_t relative);
