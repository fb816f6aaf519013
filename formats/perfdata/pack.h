/* SPDX-License-Identifier: MIT */
/*
 * Records into compressed records (perf record -z). Each holds a zstd frame of its own, so that a file that ends
 * early can be read up to there; the records inside may begin in one and end in the next.
 */
#pragma once

#include "base/buffer.h"

#include <stdbool.h>

enum {
    PACK_LEVEL_MIN = 1,
    PACK_LEVEL_MAX = 22,
    PACK_PIECE_BYTES = 48 << 10, /* of content in one, which is 64 KiB at most in any case */
};

/* Whether rec was built with libzstd. */
bool pack_is_there(void);

/* Appends the packed records to out, which has no drain. 0 or -ENOMEM. */
int pack_records(struct buffer *out, const struct buffer *records, int level);
