/* SPDX-License-Identifier: MIT */
/*
 * A module's CFI by pieces of code. Only the records of .eh_frame that .eh_frame_hdr lists for a
 * piece are read, with the nearest neighbours:
 *
 *     .eh_frame_hdr   …│ f │ g │ h │ i │ j │…         an index of g, h, i; and of f and j, for the
 *     code            ─┤ ──┼─ piece ───┼── ├─         bounds of the gaps before and behind
 *
 * Code that is not in the table, or with another record than listed, has no CFI here. Exceptions
 * do not work there either: the C++ runtime's unwinder uses the same table.
 */
#pragma once

#include "base/containers/buffer.h"
#include "unwind/rows/lazy_rules.h"

struct lazy_index; /* opaque */

/* all: sections (.eh_frame first) and bounds; header: borrowed. -EBADMSG: not a table as made by
 * linkers; -ENOMEM. */
int lazy_index_new(struct lazy_index **out, const struct cfi_index *all,
                   const struct buffer *header, uint64_t header_svma);
void lazy_index_free(struct lazy_index *pieces);

/* Number of entries in the table. */
size_t lazy_index_fdes(const struct lazy_index *pieces);

/* As compile_rows(). By any thread. */
int lazy_index_compile(const struct lazy_index *pieces, uint32_t start, uint64_t end,
                       struct compiled_rows *out);

/* The rules around an address (less the base), inside the bounds. For a single thread; NULL: out of
 * memory. */
struct lazy_rules *lazy_index_rules(struct lazy_index *pieces, uint32_t relative);
