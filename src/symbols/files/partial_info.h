/* SPDX-License-Identifier: MIT */
/*
 * Of a compressed .debug_info the units that wanted addresses need. The C library's is 6 MB of 2000 units, and a
 * recording has addresses of 40: the others are inflated, too, but not kept.
 *
 *     .debug_aranges   which units hold wanted addresses
 *     .debug_info      │ unit │ unit │ unit │ unit │ unit │ unit │ unit │
 *     excerpt          │ nothing     │ unit │ nothing            │ unit │     at the same offsets
 *
 * "Nothing" is a partial unit without content. An excerpt is made only where no kept unit refers to another. Then of
 * .debug_abbrev, which is a megabyte, only the tables of kept units are of use.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/cursor.h"
#include "elf/elf_file.h"

#include <stddef.h>
#include <stdint.h>

struct partial_info {
    const uint64_t *needed; /* ascending; none: everything */
    size_t needed_count;
    struct cursor aranges, abbreviations; /* those sections */
};

/* out: empty. tables: what remains of .debug_abbrev, at the same offsets. -ENOTSUP, and others: it has to be read whole, then
 * nothing is in out and tables. */
int partial_info_read(const struct partial_info *partial, const struct elf_file *elf,
                      const struct elf_section *section, struct buffer *out, struct buffer *tables);
