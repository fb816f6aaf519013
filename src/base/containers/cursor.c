/* SPDX-License-Identifier: MIT */
#include "base/containers/cursor.h"

#include <string.h>

void cursor_seek(struct cursor *c, uint64_t offset)
{
    if (c->failed || offset > c->size)
        cursor_fail(c);
    else
        c->at = (size_t)offset;
}

enum { SHIFT_END = 7 * CURSOR_LEB128_BYTES_MAX };

/* DWARF 5, 7.6. Bits beyond 64 are malformed unless zero, as padding is. */
uint64_t cursor_uleb128(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = cursor_u8(c);
        uint64_t bits = byte & 0x7fu;
        if (shift >= 64 ? bits != 0 || shift >= SHIFT_END : (shift == 63 && bits > 1))
            cursor_fail(c);
        if (c->failed)
            return 0;
        if (shift < 64)
            value |= bits << shift;
        if (!(byte & 0x80))
            return value;
    }
}

/* The same; groups of bits from 63 on are all zeros or all ones. */
int64_t cursor_sleb128(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = cursor_u8(c);
        uint64_t bits = byte & 0x7fu;
        if (shift >= SHIFT_END || (shift >= 63 && bits != 0 && bits != 0x7f))
            cursor_fail(c);
        if (c->failed)
            return 0;
        if (shift < 64)
            value |= bits << shift;
        if (!(byte & 0x80)) {
            if (shift + 7 < 64 && (byte & 0x40))
                value |= ~UINT64_C(0) << (shift + 7);
            return (int64_t)value;
        }
    }
}

const char *cursor_string(struct cursor *c)
{
    if (c->failed)
        return NULL;
    size_t left = cursor_left(c);
    const uint8_t *start = left ? c->bytes + c->at : NULL;
    const uint8_t *end = left ? memchr(start, 0, left) : NULL;
    if (!end) {
        cursor_fail(c);
        return NULL;
    }
    c->at += (size_t)(end - start) + 1;
    return (const char *)start;
}

struct cursor cursor_sub(struct cursor *c, uint64_t size)
{
    const uint8_t *bytes = cursor_bytes(c, size);
    struct cursor sub = cursor_of(bytes, bytes ? (size_t)size : 0);
    sub.failed = !bytes;
    sub.swapped = c->swapped;
    return sub;
}
