/* SPDX-License-Identifier: MIT */
/*
 * A zlib-compressed section, read sequentially in pieces, so skipped parts take no memory. Needs
 * libisal, with streaming as fast as inflating the whole section elsewhere; -ENOTSUP without
 * libisal. Most conversions find all names stored, and loading libisal takes 70 us.
 */
#pragma once

#include "elf/elf_file.h"

struct elf_stream; /* opaque */

/* Loads libisal, once: before the processes that read debug info are confined. */
void elf_stream_prepare(void);

/* The file must outlive the stream. 0, -ENOTSUP: not compressed with zlib, -EBADMSG, or -ENOMEM. */
int elf_stream_open(struct elf_stream **out, const struct elf_file *elf,
                    const struct elf_section *section);
void elf_stream_close(struct elf_stream *stream);

/* Inflated size, as stated by the section: at most 1 GiB. */
uint64_t elf_stream_bytes(const struct elf_stream *stream);

/* The next size bytes; out NULL: they are left out. 0, -EBADMSG, or another error of reading. */
int elf_stream_read(struct elf_stream *stream, void *out, uint64_t size);
