/* SPDX-License-Identifier: MIT */
#include "export/pprof/protobuf.h"

enum { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

void pb_varint(struct buffer *out, uint64_t value)
{
    uint8_t *room = buffer_room(out, 10);
    if (!room)
        return;
    uint8_t *end = room;
    for (; value >= 0x80; value >>= 7)
        *end++ = (uint8_t)(value | 0x80);
    *end++ = (uint8_t)value;
    out->size += (size_t)(end - room);
}

void pb_integer(struct buffer *out, uint32_t field, uint64_t value)
{
    if (value == 0)
        return;
    pb_varint(out, (uint64_t)field << 3 | WIRE_VARINT);
    pb_varint(out, value);
}

void pb_bytes(struct buffer *out, uint32_t field, const void *bytes, size_t size)
{
    pb_varint(out, (uint64_t)field << 3 | WIRE_LENGTH);
    pb_varint(out, size);
    buffer_append(out, bytes, size);
}

void pb_message(struct buffer *out, uint32_t field, const struct buffer *message)
{
    if (message->failed)
        out->failed = true;
    pb_bytes(out, field, message->bytes, message->size);
}
