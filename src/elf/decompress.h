/* SPDX-License-Identifier: MIT */
/*
 * What ELF files hold compressed: sections by zlib or zstd (SHF_COMPRESSED), and an image inside an
 * image by xz (.gnu_debugdata). zstd and xz are optional when building; without them -ENOTSUP. So is
 * libdeflate; without it zlib does the same, slower.
 *
 * Each appends to out, nothing on failure: -EBADMSG malformed, -EFBIG more than `limit` bytes, -ENOMEM.
 */
#pragma once

#include "base/buffer.h"

/* How many bytes may come out of so many (base/budget.h). */
size_t decompress_limit(size_t stored);

/* zlib, which has to yield exactly `size` bytes. */
int decompress_zlib(const void *bytes, size_t stored, size_t size, struct buffer *out);

/* One zstd frame or several, which have to yield exactly `size` bytes. */
int decompress_zstd(const void *bytes, size_t stored, size_t size, struct buffer *out);

/* One xz stream. */
int decompress_xz(const void *bytes, size_t stored, size_t limit, struct buffer *out);

/* The names of the packages that were missing when this was built ("libzstd-dev, liblzma-dev"), or "".
 */
const char *decompress_missing(void);
