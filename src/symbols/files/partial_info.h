/* SPDX-License-Identifier: MIT */
/*
 * The part of a compressed .debug_info around the needed addresses. The C library has 6 MB of 2000
 * units, and a recording has addresses in 40 of them: the others are inflated, but not kept.
 *
 *     .debug_aranges   units with needed addresses
 *     .debug_info      │ unit │ unit │ unit │ unit │ unit │ unit │ unit │ unit │
 *     partial section  │ empty       │ unit │ empty              │ unit │     at the same offsets
 *
 * The empty parts are partial units without content. Only if no kept unit refers to another unit;
 * then .debug_abbrev, a megabyte, is reduced to the tables of kept units.
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
    struct cursor aranges, abbreviations; /* sections */
};

/* out: empty. tables: the reduced .debug_abbrev, at the same offsets. An error, such as -ENOTSUP,
 * leaves out and tables empty: the section has to be read as a whole. */
int partial_info_read(const struct partial_info *partial, const struct elf_file *elf,
                      const struct elf_section *section, struct buffer *out, struct buffer *tables);
