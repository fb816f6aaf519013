/* SPDX-License-Identifier: MIT */
/*
 * A growable run of bytes that is only appended to. Running out of memory is sticky: append freely,
 * look at `failed` once at the end. Integers are written little-endian, whatever the host.
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
    /* Where content goes that would not fit 128 KiB any more; NULL: it stays. The last byte always stays:
     * writers look at it. A negative errno sets `failed`. */
    int (*drain)(void *context, const void *bytes, size_t size);
    void *drain_context;
};

/* Hands all of the content to the drain. */
void buffer_drain(struct buffer *buffer);

void buffer_free(struct buffer *buffer);

/* Empties it and keeps the memory. */
void buffer_clear(struct buffer *buffer);

/* Where content of up to size bytes can be written; what is added to buffer->size then counts. NULL: failed. */
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
