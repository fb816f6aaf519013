/* SPDX-License-Identifier: MIT */
/*
 * Unpacks compressed records (perf record -z). The compressed records of a file form one zstd
 * stream, or several in sequence; a packed record may span compressed records. Memory is bounded
 * independently of the stream's claims.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unpacker; /* opaque */

/* Whether rec was built with libzstd, and libzstd is here. Loads the library. */
bool unpacker_is_there(void);

/* NULL: out of memory, or not there. */
struct unpacker *unpacker_new(void);
void unpacker_free(struct unpacker *unpacker);

/* Feeds a copy of the next compressed record's content, at most 64 KiB. The content before must
 * be consumed. */
void unpacker_feed(struct unpacker *unpacker, const uint8_t *bytes, size_t size);

/* Peeks at the next size bytes, valid until the next call. 1; 0: feed more; -EBADMSG: damaged
 * stream; -EFBIG: expansion beyond the limit for records (base/budget.h). size: at most 64 KiB. */
int unpacker_peek(struct unpacker *unpacker, size_t size, const uint8_t **bytes);
void unpacker_take(struct unpacker *unpacker, size_t size);

/* Whether an incomplete record is pending. */
bool unpacker_has_rest(const struct unpacker *unpacker);
