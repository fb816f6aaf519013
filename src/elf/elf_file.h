/* SPDX-License-Identifier: MIT */
/*
 * A bounded reader of ELF files (64-bit, little-endian) for recording and unwinding, without
 * libelf. Data is read with pread() into private memory, so truncation or replacement of the file
 * during a read cannot cause SIGBUS; every offset and count is checked. Immutable once opened.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_segment {
    uint32_t type;  /* PT_* */
    uint32_t flags; /* PF_* */
    uint64_t offset;
    uint64_t svma;
    uint64_t file_bytes;
    uint64_t memory_bytes;
};

/* All loaded segments together, as mapped: the first one's start in the file, and the place. */
struct elf_extent {
    uint64_t offset;
    uint64_t start_svma, end_svma; /* equal: nothing is loaded */
};

struct elf_section {
    const char *name; /* borrowed from the file */
    uint32_t type;    /* SHT_* */
    uint64_t flags;
    uint64_t svma;
    uint64_t offset;
    uint64_t bytes; /* as stored, before decompression */
    uint32_t link;
    uint64_t entry_bytes;
};

struct elf_file; /* opaque */

/* A program or library: tables larger than of any such file count as absent. fd is duplicated until
 * elf_close(). -ENOEXEC: not an ELF file of a supported kind. */
int elf_open(struct elf_file **out, int fd, struct error *error);
/* The same for core and object files, with any number of segments, and sections up to this limit:
 * an object file has a section for each function (-ffunction-sections). */
#define ELF_SECTIONS_LARGE_MAX (1 << 18)
int elf_open_large(struct elf_file **out, int fd, struct error *error);
/* Opens a copy of a loaded image in memory (the vDSO): offsets are relative to the first
 * segment. */
int elf_open_memory(struct elf_file **out, const void *bytes, size_t size, struct error *error);
/* Closes the descriptor and frees what load biases do not need: the header, notes, executable
 * segments and the extent remain available. */
void elf_release_file(struct elf_file *elf);
/* After elf_release_file(). */
const struct elf_extent *elf_extent(const struct elf_file *elf);
/* Bytes of memory after elf_release_file(). */
size_t elf_released_bytes(const struct elf_file *elf);
void elf_close(struct elf_file *elf);

uint16_t elf_machine(const struct elf_file *elf); /* EM_* */
uint64_t elf_entry_svma(const struct elf_file *elf);
size_t elf_segment_count(const struct elf_file *elf);
const struct elf_segment *elf_segment(const struct elf_file *elf, size_t index);
size_t elf_section_count(const struct elf_file *elf);
const struct elf_section *elf_section(const struct elf_file *elf, size_t index);
const struct elf_section *elf_find_section(const struct elf_file *elf, const char *name);

/* The content, decompressed when SHF_COMPRESSED (zlib, zstd; at most 1 GiB). Appended to out. */
int elf_read_section(const struct elf_file *elf, const struct elf_section *section,
                     struct buffer *out, struct error *error);

/* Bytes of memory that reading the content takes, as the file states. */
uint64_t elf_section_memory(const struct elf_file *elf, const struct elf_section *section);

/* Appends [offset, offset + size) of an uncompressed section to out. 0, -ENOTSUP, -ENODATA,
 * -EFBIG or -ENOMEM. */
int elf_read_section_part(const struct elf_file *elf, const struct elf_section *section,
                          uint64_t offset, uint64_t size, struct buffer *out);

/* GNU build-id: returns the size (0: none), at most 20 bytes. */
size_t elf_build_id(const struct elf_file *elf, uint8_t id[20]);

/* PT_INTERP; NULL for static programs and most libraries. */
const char *elf_interpreter(const struct elf_file *elf);

/* Whether the file is a Go program, independent of the linker (.go.buildinfo, .note.go.buildid). */
bool elf_is_go(const struct elf_file *elf);

/*
 * The load bias: avma - svma, from an executable mapping of the file (start address and file offset
 * as in /proc/PID/maps). The bias is not always start - offset: a segment's address and offset may
 * differ, and a mapping may begin inside a segment.
 *
 *     file    ──offset──▶ ┌ segment: offset, svma ┐        svma of the mapping's first byte =
 *     process ──start──▶  └───────────────────────┘        segment.svma + (offset - segment.offset)
 *
 * -ENOENT: no executable segment contains the offset.
 */
int elf_load_bias(const struct elf_file *elf, uint64_t start_avma, uint64_t file_offset,
                  uint64_t *bias);
/* As elf_load_bias(), from segments alone, for callers without the file. */
int elf_segments_bias(const struct elf_segment *segments, size_t count, uint64_t start_avma,
                      uint64_t file_offset, uint64_t *bias);

/* Reads [svma, svma + size) from the file; -ENOENT outside of every segment's file part. */
int elf_read_svma(const struct elf_file *elf, uint64_t svma, void *out, size_t size);
