/* SPDX-License-Identifier: MIT */
/* Foreign bytes (symbols, paths, thread names) made into valid UTF-8. */
#pragma once

#include "base/containers/buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Length, 1 to 4 bytes, of the well-formed sequence at the start of the (non-empty) bytes; 0:
 * none. */
size_t utf8_length(const uint8_t *bytes, size_t size);

/* Code point of a well-formed sequence. */
uint32_t utf8_code(const uint8_t *bytes, size_t length);

/* As utf8_length(), but 0 for characters that control a terminal or reorder text: C0, DEL, C1,
 * bidirectional controls, line and paragraph separator, byte order mark. */
size_t utf8_printable_length(const uint8_t *bytes, size_t size);

/* Appends the text; bytes outside of well-formed sequences become U+FFFD. */
void utf8_append(struct buffer *out, const char *text);

/* Appends the text for a line on a terminal: C0 and DEL become spaces; other non-printable
 * characters and malformed bytes become U+FFFD. */
void utf8_append_line(struct buffer *out, const char *text);
