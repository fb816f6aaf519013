/* SPDX-License-Identifier: MIT */
/* Foreign bytes (symbols, paths, thread names) made into valid UTF-8. */
#pragma once

#include "base/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed sequence that the (non-empty) run begins with, 1 to 4; 0: there is none.
 */
size_t utf8_length(const uint8_t *bytes, size_t size);

/* Appends the text with every byte that belongs to no well-formed sequence replaced by U+FFFD. */
void utf8_append(struct buffer *out, const char *text);
