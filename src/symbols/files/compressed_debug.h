/* SPDX-License-Identifier: MIT */
/*
 * What lies compressed in a file. libdw 0.188 reads no sections by zstd and no symbol table by xz; of
 * sections by zlib it inflates all when it opens a file, into room that it doubles again and again, which took
 * most of the time of naming code of the C library by libc6-dbg.
 */
#pragma once

#include "base/containers/buffer.h"
#include "elf/elf_file.h"
#include "symbols/files/elf_build.h"
#include "symbols/files/elf_handle.h"
#include "symbols/files/partial_lines.h"

#include <stdbool.h>

struct compressed_debug {
    struct buffer sections[ELF_BUILD_SECTIONS];
    struct elf_handle handle;
    bool is_damaged; /* not all that was asked for could be decompressed */
    /* Until line tables are read (compressed_debug_read_lines()), if there are any to be read; else NULL and zeros: */
    struct elf_file *elf;
    struct partial_lines lines;
};

void compressed_debug_init(struct compressed_debug *compressed);
void compressed_debug_free(struct compressed_debug *compressed);

/* Whether some section is compressed. */
bool compressed_debug_is_needed(const struct elf_handle *handle);

/* compressed->handle becomes the debug sections of a file that names are looked up in, decompressed; of some maybe only what
 * wanted addresses need (excerpt.h), none: everything. 0, -ENOTSUP, -ENOMEM. */
int compressed_debug_open(struct compressed_debug *compressed, const struct elf_handle *from,
                          const uint64_t *needed, size_t needed_count);

/* While compressed->lines has a stream, line tables are zeros. Reads those that begin at these offsets, ascending: of all units
 * that compressed->handle has. */
void compressed_debug_read_lines(struct compressed_debug *compressed, const uint64_t *offsets,
                                 size_t count);

/* The symbol table that some distributions leave, compressed by xz, in stripped files (.gnu_debugdata). 0,
 * or -ENOENT, -ENOTSUP, -EBADMSG, … */
int compressed_debug_open_debugdata(struct elf_handle *out, const struct elf_handle *from);
