/* SPDX-License-Identifier: MIT */
/* The wire format of protocol buffers, writing side: fields appended to a message in a buffer. */
#pragma once

#include "base/containers/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* A bare varint: an element of a packed field. */
void pb_varint(struct buffer *out, uint64_t value);

/* Fields. A zero is the default of proto3 and is left out. */
void pb_integer(struct buffer *out, uint32_t field, uint64_t value);

/* Strings, packed fields and nested messages. */
void pb_bytes(struct buffer *out, uint32_t field, const void *bytes, size_t size);
void pb_message(struct buffer *out, uint32_t field, const struct buffer *message);
