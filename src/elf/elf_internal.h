/* SPDX-License-Identifier: MIT */
/* Shared by the files of this folder: the opened file, and reads from a file or memory. */
#pragma once

#include "base/containers/buffer.h"
#include "base/containers/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
    int fd;              /* our own duplicate; -1 for an image in memory */
    struct buffer image; /* the image in memory; empty for a file */
    uint64_t size;       /* of the file or the image */
    uint16_t machine;
    uint64_t entry_svma;
    struct elf_segment *segments;
    size_t segment_count, segment_capacity;
    struct elf_extent extent; /* set by elf_release_file() */
    struct elf_section *sections;
    size_t section_count, section_capacity;
    struct buffer names;       /* the section names; ends with a NUL */
    struct buffer interpreter; /* empty, or a terminated path */
    uint8_t build_id[20];
    size_t build_id_bytes;
    bool is_go;
};

/* Exactly size bytes; -ENODATA when the file ends before. */
int elf_read_at(const struct elf_file *elf, uint64_t offset, void *out, size_t size);

/* Appends the bytes of [offset, offset + size) to out; -ENODATA at an early end, -EFBIG above 1
 * GiB (sparse files can claim any size). Checks before allocating. */
int elf_append_at(const struct elf_file *elf, uint64_t offset, uint64_t size, struct buffer *out);

/* Parses the header of a compressed section (Elf64_Chdr). 0, or -EBADMSG, also above 1 GiB. */
int elf_read_compression(struct cursor *c, uint32_t *method, uint64_t *bytes);

/* Reads build-id, interpreter and Go marks from segments and sections. Malformed notes are
 * ignored. */
void elf_read_notes(struct elf_file *elf);
