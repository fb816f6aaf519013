/* SPDX-License-Identifier: MIT */
/*
 * An ELF file opened by libelf, mapped: most of large debug info is never touched, and workers
 * share the pages. Access to a file that shrinks meanwhile faults, so files are opened in confined
 * workers only.
 */
#pragma once

#include "base/containers/buffer.h"
#include "base/text/error.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_handle {
    int fd;      /* -1: in memory */
    char *path;  /* owned; NULL: in memory */
    void *bytes; /* owned; NULL: a file */
    Elf *elf;
    const uint8_t *build_id; /* of libelf's memory; NULL: none */
    size_t build_id_bytes;
    bool keeps_pages; /* they are needed again soon: elf_handle_drop_pages() has no effect */
};

/* Regular files only, with the rights of the reader. -ENOEXEC: not an ELF file; -ENOENT,
 * -EACCES, … */
int elf_handle_open(struct elf_handle *handle, const char *path, struct error *error);
/* The same for a file that has moved: opened from path_now, called path in messages. */
int elf_handle_open_at(struct elf_handle *handle, const char *path_now, const char *path,
                       struct error *error);
int elf_handle_open_memory(struct elf_handle *handle, const void *bytes, size_t size,
                           struct error *error);
/* Takes the bytes over; leaves the buffer empty. */
int elf_handle_adopt(struct elf_handle *handle, struct buffer *bytes, struct error *error);
void elf_handle_close(struct elf_handle *handle);

/* Of a file: on disk, see io_stored_bytes(). */
uint64_t elf_handle_stored_bytes(const struct elf_handle *handle);
/* False: more bytes than stored, and than any small table has: mostly a hole. Each GiB of a hole
 * takes 1.7 s to read. */
bool elf_handle_may_store(const struct elf_handle *handle, uint64_t bytes);

/* Releases the touched pages of a file's mapping; a later access maps them again. No effect if
 * libelf has read the file instead: such bytes do not start at a page. */
void elf_handle_drop_pages(const struct elf_handle *handle);

/* Size of the GNU build-id (0: none); *id is borrowed. */
size_t elf_handle_build_id(const struct elf_handle *handle, const uint8_t **id);

/* Whether sections that the headers state are not in the file. */
bool elf_handle_is_truncated(const struct elf_handle *handle);

/* The section of this name, if not empty; or NULL. */
Elf_Scn *elf_handle_section(Elf *elf, const char *name);
/* ".debug_NAME", or the older ".zdebug_NAME", compressed and inflated in place by libdw; or
 * NULL. */
Elf_Scn *elf_handle_debug_section(Elf *elf, const char *name);
