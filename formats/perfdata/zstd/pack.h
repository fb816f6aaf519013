/* SPDX-License-Identifier: MIT */
/*
 * Packs records into compressed records (perf record -z). Each compressed record holds a complete
 * zstd frame, so a truncated file is readable up to the truncation. A packed record may continue in
 * the next compressed record.
 */
#pragma once

#include "base/containers/buffer.h"

#include <stdbool.h>

enum {
    PACK_LEVEL_MIN = 1,
    PACK_LEVEL_MAX = 22,
    PACK_PIECE_BYTES = 48 << 10, /* uncompressed content per record; the format's limit is 64 KiB */
};

/* Whether rec was built with libzstd, and libzstd is here. Loads the library. */
bool pack_is_there(void);

/* Appends the packed records to out, which must not have a drain. 0, -ENOMEM, or -ENOSYS: no
 * libzstd. */
int pack_records(struct buffer *out, const struct buffer *records, int level);
