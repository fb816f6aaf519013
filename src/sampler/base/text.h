/* SPDX-License-Identifier: MIT */
/* Text without the C library, before its start. The caller's buffer is large enough.
 * Async-signal-safe throughout. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the end of the text, without a terminator. */
static inline char *append_number(char *out, uint32_t number)
{
    char digits[10];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count)
        *out++ = digits[--count];
    return out;
}

static inline char *append_text(char *out, const char *text)
{
    while (*text)
        *out++ = *text++;
    return out;
}

static inline size_t text_length(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

/* The text behind `start`; NULL: the text begins otherwise. */
static inline const char *text_behind(const char *text, const char *start)
{
    while (*start && *text == *start) {
        text++;
        start++;
    }
    return *start ? NULL : text;
}
