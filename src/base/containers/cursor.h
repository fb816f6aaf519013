/* SPDX-License-Identifier: MIT */
/*
 * The bounded reader of every parser: a position within (bytes, size). Reading past the end sets
 * `failed`, yields 0 and stays at the end, so parsers check once at the end. No other code does
 * pointer arithmetic with lengths or offsets from a file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *bytes; /* borrowed */
    size_t size;
    size_t at;    /* invariant: at <= size */
    bool failed;  /* read past the end, or malformed data */
    bool swapped; /* integers are in the other byte order */
};

static inline struct cursor cursor_of(const void *bytes, size_t size)
{
    return (struct cursor){.bytes = bytes, .size = size};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return c->size - c->at;
}

static inline void cursor_fail(struct cursor *c)
{
    c->failed = true;
    c->at = c->size;
}

/* size bytes in place, or NULL (and failed). */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint64_t size)
{
    if (c->failed || size > cursor_left(c)) {
        cursor_fail(c);
        return NULL;
    }
    const uint8_t *bytes = c->bytes + c->at;
    c->at += (size_t)size;
    return bytes;
}

static inline void cursor_skip(struct cursor *c, uint64_t size)
{
    (void)cursor_bytes(c, size);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    const uint8_t *bytes = cursor_bytes(c, 1);
    return bytes ? bytes[0] : 0;
}

/* `value` must be zeroed: a failed read leaves the value unchanged. */
static inline void cursor_copy(struct cursor *c, void *value, size_t size)
{
    const uint8_t *bytes = cursor_bytes(c, size);
    if (bytes)
        memcpy(value, bytes, size);
}

static inline uint16_t cursor_u16(struct cursor *c)
{
    uint16_t value = 0;
    cursor_copy(c, &value, sizeof(value));
    return c->swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
    uint32_t value = 0;
    cursor_copy(c, &value, sizeof(value));
    return c->swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
    uint64_t value = 0;
    cursor_copy(c, &value, sizeof(value));
    return c->swapped ? __builtin_bswap64(value) : value;
}

/* Reads at an offset: neither moves nor fails. NULL or 0: not there. */
static inline const uint8_t *cursor_bytes_at(const struct cursor *c, size_t offset, uint64_t size)
{
    return offset <= c->size && size <= c->size - offset ? c->bytes + offset : NULL;
}

static inline uint32_t cursor_u32_at(const struct cursor *c, size_t offset)
{
    uint32_t value = 0;
    const uint8_t *bytes = cursor_bytes_at(c, offset, sizeof(value));
    if (bytes)
        memcpy(&value, bytes, sizeof(value));
    return c->swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t cursor_u64_at(const struct cursor *c, size_t offset)
{
    uint64_t value = 0;
    const uint8_t *bytes = cursor_bytes_at(c, offset, sizeof(value));
    if (bytes)
        memcpy(&value, bytes, sizeof(value));
    return c->swapped ? __builtin_bswap64(value) : value;
}

/* LEB128. More than 64 bits of value are a failure, and more than CURSOR_LEB128_BYTES_MAX bytes:
 * assemblers pad numbers to 10 bytes at most, and hostile padding of megabytes would be read again
 * at each use. */
enum { CURSOR_LEB128_BYTES_MAX = 16 };
uint64_t cursor_uleb128(struct cursor *c);
int64_t cursor_sleb128(struct cursor *c);

/* Moves to an absolute offset. */
void cursor_seek(struct cursor *c, uint64_t offset);

/* A NUL-terminated string in place; NULL (and failed) when no terminator is left. */
const char *cursor_string(struct cursor *c);

/* The next size bytes as a cursor of their own; empty and failed when they are not there. */
struct cursor cursor_sub(struct cursor *c, uint64_t size);
