/* SPDX-License-Identifier: MIT */
/*
 * Decompression for ELF files: sections with zlib or zstd (SHF_COMPRESSED), and the xz image in
 * .gnu_debugdata. zstd and xz are optional at build time; without them the functions return
 * -ENOTSUP. libdeflate is optional, too; zlib is the slower fallback. zstd and libdeflate are
 * loaded at need: 90 us of a start.
 *
 * Results are appended to out; on failure out is unchanged: -EBADMSG malformed, -EFBIG more than
 * `limit` bytes, -ENOMEM.
 */
#pragma once

#include "base/containers/buffer.h"

/* Loads libraries; before a worker is confined. Elsewhere the first use loads. */
void decompress_prepare(void);

/* How many bytes may come out of so many (base/budget.h). */
size_t decompress_limit(size_t stored);

/* zlib; must yield exactly `size` bytes. */
int decompress_zlib(const void *bytes, size_t stored, size_t size, struct buffer *out);

/* One or more zstd frames; must yield exactly `size` bytes. */
int decompress_zstd(const void *bytes, size_t stored, size_t size, struct buffer *out);

/* A single xz stream. */
int decompress_xz(const void *bytes, size_t stored, size_t limit, struct buffer *out);

/* Packages missing at build time ("libzstd-dev, liblzma-dev"), or "". */
const char *decompress_missing(void);
