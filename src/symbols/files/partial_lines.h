/* SPDX-License-Identifier: MIT */
/*
 * Of a compressed .debug_line the tables of some units. Where they begin stands in the units, so nothing is read before
 * the debug info is open: until then the section is zeros, of which none takes memory.
 *
 *     .debug_line   │ table │ table │ table │ table │ table │
 *     excerpt       │ zeros │ table │ zeros         │ table │     at the same offsets
 */
#pragma once

#include "base/containers/buffer.h"
#include "elf/elf_stream.h"

#include <stddef.h>
#include <stdint.h>

struct partial_lines { /* zeros: there is nothing to read */
    struct elf_stream *stream;
    uint8_t *bytes; /* borrowed: the section */
    uint64_t size, at;
};

/* out: the section as yet. The file must outlive this. 0, -ENOTSUP, and others: it has to be read whole. */
int partial_lines_open(struct partial_lines *lines, const struct elf_file *elf,
                       const struct elf_section *section, struct buffer *out);

/* Reads the tables that begin at these offsets, ascending, and closes. What is damaged stays zeros. 0, -EBADMSG: not all could
 * be read, or -ENOMEM. */
int partial_lines_read(struct partial_lines *lines, const uint64_t *offsets, size_t count);
void partial_lines_close(struct partial_lines *lines);
