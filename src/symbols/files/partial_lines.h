/* SPDX-License-Identifier: MIT */
/*
 * The part of a compressed .debug_line with the tables of some units. The offsets of the tables are
 * in the units, so nothing is read before the debug info is open: until then the section is zeros,
 * which take no memory.
 *
 *     .debug_line       │ table │ table │ table │ table │ table │
 *     partial section   │ zeros │ table │ zeros         │ table │     at the same offsets
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

/* out: the section, zeros so far. elf must outlive this. 0; or an error, such as -ENOTSUP: the
 * section has to be read as a whole. */
int partial_lines_open(struct partial_lines *lines, const struct elf_file *elf,
                       const struct elf_section *section, struct buffer *out);

/* Reads the tables at these offsets, ascending, and closes. Damaged parts stay zeros. 0, -ENOMEM,
 * or -EBADMSG: some tables could not be read. */
int partial_lines_read(struct partial_lines *lines, const uint64_t *offsets, size_t count);
void partial_lines_close(struct partial_lines *lines);
