/* SPDX-License-Identifier: MIT */
/*
 * What lies compressed in a file. libdw 0.188 reads no sections by zstd and no symbol table by xz; of
 * sections by zlib it inflates all when it opens a file, into room that it doubles again and again, which took
 * most of the time of naming code of the C library by libc6-dbg.
 */
#pragma once

#include "base/containers/buffer.h"
#include "elf/elf_file.h"
#include "symbols/excerpt_lines.h"
#include "symbols/image.h"
#include "symbols/image_build.h"

#include <stdbool.h>

struct packed {
    struct buffer sections[IMAGE_BUILD_SECTIONS];
    struct image image;
    bool is_damaged; /* not all that was asked for could be decompressed */
    /* Until line tables are read (packed_read_lines()), if there are any to be read; else NULL and zeros: */
    struct elf_file *elf;
    struct excerpt_lines lines;
};

void packed_init(struct packed *packed);
void packed_free(struct packed *packed);

/* Whether some section is compressed. */
bool packed_is_needed(const struct image *image);

/* packed->image becomes the debug sections of a file that names are looked up in, decompressed; of some maybe only what
 * wanted addresses need (excerpt.h), none: everything. 0, -ENOTSUP, -ENOMEM. */
int packed_open(struct packed *packed, const struct image *from, const uint64_t *wanted,
                size_t wanted_count);

/* While packed->lines has a stream, line tables are zeros. Reads those that begin at these offsets, ascending: of all units
 * that packed->image has. */
void packed_read_lines(struct packed *packed, const uint64_t *offsets, size_t count);

/* The symbol table that some distributions leave, compressed by xz, in stripped files (.gnu_debugdata). 0,
 * or -ENOENT, -ENOTSUP, -EBADMSG, … */
int packed_open_debugdata(struct image *out, const struct image *from);
