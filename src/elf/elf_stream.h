/* SPDX-License-Identifier: MIT */
/*
 * A section compressed by zlib, read from its beginning on, piece by piece: what is not wanted is never in memory.
 * With libisal only, which does so as fast as others inflate the whole; without it -ENOTSUP.
 */
#pragma once

#include "elf/elf_file.h"

struct elf_stream; /* opaque */

/* The file must outlive the stream. 0, -ENOTSUP: it is not compressed so, -EBADMSG, or -ENOMEM. */
int elf_stream_open(struct elf_stream **out, const struct elf_file *elf,
                    const struct elf_section *section);
void elf_stream_close(struct elf_stream *stream);

/* Of all of it, inflated, as the section says: at most 1 GiB. */
uint64_t elf_stream_bytes(const struct elf_stream *stream);

/* The next size bytes; out NULL: they are left out. 0, -EBADMSG, or another error of reading. */
int elf_stream_read(struct elf_stream *stream, void *out, uint64_t size);
