/* SPDX-License-Identifier: MIT */
/* Foreign bytes (symbols, paths, thread names) made into valid UTF-8. */
#pragma once

#include "base/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed sequence that the (non-empty) run begins with, 1 to 4; 0: there is none.
 */
size_t utf8_length(const uint8_t *bytes, size_t size);

/* Code point of a well-formed sequence. */
uint32_t utf8_code(const uint8_t *bytes, size_t length);

/* As utf8_length(), and 0 also for a character that acts on a terminal or changes the order of the text around it:
 * C0, DEL, C1, bidirectional controls, line and paragraph separator, byte order mark. */
size_t utf8_printable_length(const uint8_t *bytes, size_t size);

/* Appends the text with every byte that belongs to no well-formed sequence replaced by U+FFFD. */
void utf8_append(struct buffer *out, const char *text);

/* Appends the text as part of a line that may be shown on a terminal: C0 and DEL become spaces; other characters that
 * are not printable, and bytes of no well-formed sequence, become U+FFFD. */
void utf8_append_line(struct buffer *out, const char *text);
