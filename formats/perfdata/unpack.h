/* SPDX-License-Identifier: MIT */
/*
 * Records out of compressed records (perf record -z). All of a file together hold one zstd stream,
 * or several in a row; its records may begin in one compressed record and end in another. Memory is
 * bounded whatever the stream claims.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unpacker; /* opaque */

/* Whether rec was built with libzstd. */
bool unpacker_is_there(void);

/* NULL: out of memory, or not there. */
struct unpacker *unpacker_new(void);
void unpacker_free(struct unpacker *unpacker);

/* The content of the next compressed record, at most 64 KiB, copied. All of the one before must
 * have been taken. */
void unpacker_feed(struct unpacker *unpacker, const uint8_t *bytes, size_t size);

/* The next size bytes of the stream without taking them; valid until the next call. 1, 0 when more
 * must be fed for it, -EBADMSG when the stream is damaged, -EFBIG when it expands as no records do (base/budget.h).
 * size: at most 64 KiB. */
int unpacker_peek(struct unpacker *unpacker, size_t size, const uint8_t **bytes);
void unpacker_take(struct unpacker *unpacker, size_t size);

/* Whether bytes were fed that make no whole record yet. */
bool unpacker_has_rest(const struct unpacker *unpacker);
