/* SPDX-License-Identifier: MIT */
/*
 * JSON text appended to a buffer. Each call derives the comma from the last byte of the buffer.
 * Numbers are formatted here instead of by printf: a large profile has tens of millions of numbers.
 */
#pragma once

#include "base/containers/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bracket: '{' or '[', and the closing bracket. */
void json_open(struct buffer *out, char bracket);
void json_close(struct buffer *out, char bracket);
void json_key(struct buffer *out, const char *key);

/* Escaped also for a <script> element and a terminal: "</", "<!" and all unprintable characters
 * (utf8_printable_length()). Invalid UTF-8 becomes U+FFFD. */
void json_string(struct buffer *out, const char *text);
void json_integer(struct buffer *out, int64_t value);
void json_unsigned(struct buffer *out, uint64_t value);
/* value / 10^6, exactly and without an exponent: ns as ms. */
void json_millionths(struct buffer *out, uint64_t value);
void json_bool(struct buffer *out, bool value);
void json_null(struct buffer *out);
/* A finished JSON value. */
void json_spelled(struct buffer *out, const void *text, size_t size);

/* "key": value */
void json_member_string(struct buffer *out, const char *key, const char *text);
void json_member_integer(struct buffer *out, const char *key, int64_t value);
void json_member_unsigned(struct buffer *out, const char *key, uint64_t value);
void json_member_millionths(struct buffer *out, const char *key, uint64_t value);
void json_member_bool(struct buffer *out, const char *key, bool value);
void json_member_null(struct buffer *out, const char *key);
