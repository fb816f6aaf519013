/* SPDX-License-Identifier: MIT */
#include "base/containers/buffer.h"

#include "base/containers/array.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_free(struct buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct buffer){0};
}

void buffer_clear(struct buffer *buffer)
{
    buffer->size = 0;
    buffer->failed = false;
}

/* Large enough to amortise a drain call, small enough for a core's private cache. */
enum { DRAIN_BYTES = 1 << 17 };

static void drain_but(struct buffer *buffer, size_t kept)
{
    size_t size = buffer->size - kept;
    if (buffer->failed || size == 0)
        return;
    if (buffer->drain(buffer->drain_context, buffer->bytes, size) != 0)
        buffer->failed = true;
    memmove(buffer->bytes, buffer->bytes + size, kept);
    buffer->size = kept;
}

void buffer_drain(struct buffer *buffer)
{
    if (buffer->drain)
        drain_but(buffer, 0);
}

/* A failed buffer keeps its size: later calls append nothing. */
static bool make_room(struct buffer *buffer, size_t size)
{
    size_t need;
    if (buffer->drain && buffer->size + 1 > DRAIN_BYTES)
        drain_but(buffer, 1);
    buffer->failed = buffer->failed || __builtin_add_overflow(buffer->size, size, &need) ||
                     array_reserve((void **)&buffer->bytes, &buffer->capacity, need, 1) != 0;
    return !buffer->failed;
}

uint8_t *buffer_room(struct buffer *buffer, size_t size)
{
    bool is_full =
        size > buffer->capacity - buffer->size || (buffer->drain && buffer->size >= DRAIN_BYTES);
    if ((is_full || buffer->failed) && !make_room(buffer, size))
        return NULL;
    return buffer->bytes + buffer->size;
}

/* Appends size uninitialised bytes; NULL: out of memory, `failed` is set. */
static uint8_t *extend(struct buffer *buffer, size_t size)
{
    uint8_t *room = buffer_room(buffer, size);
    if (room)
        buffer->size += size;
    return room;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
    uint8_t *room = size ? extend(buffer, size) : NULL;
    if (room)
        memcpy(room, bytes, size);
}

void buffer_zeros(struct buffer *buffer, size_t size)
{
    uint8_t *room = size ? extend(buffer, size) : NULL;
    if (room)
        memset(room, 0, size);
}

void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !extend(buffer, (size_t)length + 1)) {
        buffer->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf((char *)buffer->bytes + buffer->size - (size_t)length - 1, (size_t)length + 1, format,
              args);
    va_end(args);
    buffer->size--; /* the terminator is not content */
}

static void append_little_endian(struct buffer *buffer, uint64_t value, size_t size)
{
    uint64_t word = htole64(value); /* little-endian: the low bytes come first */
    buffer_append(buffer, &word, size);
}

void buffer_u8(struct buffer *buffer, uint8_t value)
{
    append_little_endian(buffer, value, 1);
}

void buffer_u16(struct buffer *buffer, uint16_t value)
{
    append_little_endian(buffer, value, 2);
}

void buffer_u32(struct buffer *buffer, uint32_t value)
{
    append_little_endian(buffer, value, 4);
}

void buffer_set_u32(struct buffer *buffer, size_t at, uint32_t value)
{
    uint32_t little = htole32(value);
    memcpy(buffer->bytes + at, &little, sizeof(little));
}

void buffer_u64(struct buffer *buffer, uint64_t value)
{
    append_little_endian(buffer, value, 8);
}

void buffer_u64s(struct buffer *buffer, const uint64_t *values, size_t count)
{
    uint8_t *room = count ? extend(buffer, count <= SIZE_MAX / 8 ? 8 * count : SIZE_MAX) : NULL;
    for (size_t i = 0; room && i < count; i++) {
        uint64_t word = htole64(values[i]);
        memcpy(room + 8 * i, &word, sizeof(word));
    }
}
