/* SPDX-License-Identifier: MIT */
/*
 * An append-only byte buffer. Out of memory is sticky: append freely, check `failed` once at the
 * end. Integers are written little-endian on every host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
    uint8_t *bytes; /* owned; NULL while empty */
    size_t size;
    size_t capacity;
    bool failed; /* an append found no memory; the content is incomplete */
    /* Takes the content once the size would exceed 128 KiB; NULL: the buffer grows. The last
     * byte always stays, because writers inspect it. A negative errno sets `failed`. */
    int (*drain)(void *context, const void *bytes, size_t size);
    void *drain_context;
};

/* Hands all of the content to the drain. */
void buffer_drain(struct buffer *buffer);

void buffer_free(struct buffer *buffer);

/* Drops the content, keeps the memory. */
void buffer_clear(struct buffer *buffer);

/* Space for up to size more bytes; the caller adds the number of written bytes to buffer->size.
 * NULL: out of memory. */
uint8_t *buffer_room(struct buffer *buffer, size_t size);

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
void buffer_zeros(struct buffer *buffer, size_t size);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void buffer_u8(struct buffer *buffer, uint8_t value);
void buffer_u16(struct buffer *buffer, uint16_t value);
void buffer_u32(struct buffer *buffer, uint32_t value);
void buffer_u64(struct buffer *buffer, uint64_t value);
/* In place of the 4 bytes at an offset, in a buffer without a drain. */
void buffer_set_u32(struct buffer *buffer, size_t at, uint32_t value);
void buffer_u64s(struct buffer *buffer, const uint64_t *values, size_t count);
