/* SPDX-License-Identifier: MIT */
/*
 * Decompressed debug sections. libdw 0.188 has no zstd, and no xz for symbol tables; zlib sections
 * it inflates all at once when a file is opened, into a buffer that doubles repeatedly: most of the
 * time of symbolizing the C library by libc6-dbg.
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
    bool is_damaged; /* some section was not fully decompressed */
    /* Set between compressed_debug_open() and compressed_debug_read_lines(), if line tables are
     * read in part; else NULL and zeros. */
    struct elf_file *elf;
    struct partial_lines lines;
};

void compressed_debug_init(struct compressed_debug *compressed);
void compressed_debug_free(struct compressed_debug *compressed);

/* Whether some section is compressed. */
bool compressed_debug_is_needed(const struct elf_handle *handle);

/* Sets compressed->handle to an ELF file in memory with the decompressed debug sections, some of
 * them reduced to the needed addresses (partial_info.h; none: complete). 0, -ENOTSUP or -ENOMEM. */
int compressed_debug_open(struct compressed_debug *compressed, const struct elf_handle *from,
                          const uint64_t *needed, size_t needed_count);

/* Reads the line tables at these offsets, ascending: those of all units in compressed->handle.
 * Before, while compressed->lines has a stream, line tables are zeros. */
void compressed_debug_read_lines(struct compressed_debug *compressed, const uint64_t *offsets,
                                 size_t count);

/* Opens .gnu_debugdata, a symbol table compressed by xz in stripped files of some distributions. 0,
 * -ENOENT, -ENOTSUP, -EBADMSG, … */
int compressed_debug_open_debugdata(struct elf_handle *out, const struct elf_handle *from);
