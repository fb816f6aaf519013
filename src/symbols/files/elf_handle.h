/* SPDX-License-Identifier: MIT */
/*
 * One ELF file opened with libelf, mapped: of large debug info most is never touched, and workers share what
 * they read. A file that shrinks while it is open faults, and so it is opened in confined workers only.
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
};

/* Regular files only, with the rights of the reader. -ENOENT, -EACCES, …: the file; -ENOEXEC: it is not ELF. */
int elf_handle_open(struct elf_handle *handle, const char *path, struct error *error);
/* The same for a file whose path leads to it no more: opened from path_now. */
int elf_handle_open_at(struct elf_handle *handle, const char *path_now, const char *path,
                       struct error *error);
int elf_handle_open_memory(struct elf_handle *handle, const void *bytes, size_t size,
                           struct error *error);
/* Takes the bytes over; leaves the buffer empty. */
int elf_handle_adopt(struct elf_handle *handle, struct buffer *bytes, struct error *error);
void elf_handle_close(struct elf_handle *handle);

/* What was touched of a file's mapping is out of this process's memory until it is touched again. Where libelf could not
 * map the file, nothing happens: the bytes that it read do not begin at a page. */
void elf_handle_drop_pages(const struct elf_handle *handle);

/* The GNU build-id: its size (0: none); *id is borrowed. */
size_t elf_handle_build_id(const struct elf_handle *handle, const uint8_t **id);

/* Whether it says that it has sections, and they are not there. */
bool elf_handle_is_truncated(const struct elf_handle *handle);

/* The section of that name that has content, or NULL. */
Elf_Scn *elf_handle_section(Elf *elf, const char *name);
/* ".debug_NAME", or ".zdebug_NAME" as it was called when compressed, which libdw inflates in place; or NULL. */
Elf_Scn *elf_handle_debug_section(Elf *elf, const char *name);
