/* SPDX-License-Identifier: MIT */
/* The file header and the feature table, checked against the size of the file. */
#pragma once

#include "base/containers/cursor.h"
#include "base/text/error.h"
#include "perfdata/format.h"

#include <stdbool.h>
#include <stdint.h>

struct section {
    uint64_t offset, size;
};

struct file_header {
    uint64_t file_bytes;
    bool swapped;    /* integers are not in this host's byte order */
    bool big_endian; /* bit fields are numbered from the other end */
    bool is_pipe;    /* written by perf record -o -: the metadata is in the data section */
    uint64_t attr_entry_bytes;
    struct section attrs; /* inside the file */
    struct section data;  /* starts inside the file; may be empty or exceed the file */
    uint64_t features[HEADER_FEATURE_BITS / 64];
};

/* Whether a file with these first bytes (fewer for a smaller file) is a perf.data file, as far
 * as the magic shows. */
#define FILE_MAGIC_BYTES 8u
int file_magic_check(const void *bytes, size_t size, const char *path, struct error *error);

int file_header_read(struct file_header *header, int fd, const char *path, struct error *error);

bool file_header_has(const struct file_header *header, unsigned feature);

/* Adds a feature found in the data of a pipe file. */
void file_header_set(struct file_header *header, unsigned feature);

/* Reads the sections of all set features, by bit; -EBADMSG if a section exceeds the file. */
int feature_table_read(const struct file_header *header, int fd,
                       struct section sections[HEADER_FEATURE_BITS]);

bool section_is_inside(struct section section, uint64_t file_bytes);

struct section cursor_section(struct cursor *c);
