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

struct image {
    int fd;      /* -1: in memory */
    char *path;  /* owned; NULL: in memory */
    void *bytes; /* owned; NULL: a file */
    Elf *elf;
};

/* Regular files only, with the rights of the reader. -ENOENT, -EACCES, …: the file; -ENOEXEC: it is not ELF. */
int image_open(struct image *image, const char *path, struct error *error);
/* The same for a file whose path leads to it no more: opened from path_now. */
int image_open_at(struct image *image, const char *path_now, const char *path, struct error *error);
int image_open_memory(struct image *image, const void *bytes, size_t size, struct error *error);
/* Takes the bytes over; leaves the buffer empty. */
int image_adopt(struct image *image, struct buffer *bytes, struct error *error);
void image_close(struct image *image);

/* What was touched of a file's mapping is out of this process's memory until it is touched again. Where libelf could not
 * map the file, nothing happens: the bytes that it read do not begin at a page. */
void image_let_go(const struct image *image);

/* The GNU build-id: its size (0: none); *id is borrowed. */
size_t image_build_id(const struct image *image, const uint8_t **id);

/* Whether it says that it has sections, and they are not there. */
bool image_is_cut(const struct image *image);

/* The section of that name that has content, or NULL. */
Elf_Scn *image_section(Elf *elf, const char *name);
/* ".debug_NAME", or ".zdebug_NAME" as it was called when compressed, which libdw inflates in place; or NULL. */
Elf_Scn *image_debug_section(Elf *elf, const char *name);
