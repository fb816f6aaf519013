/* SPDX-License-Identifier: MIT */
/* Paths without the C library, before its start. The caller's buffer is large enough. */
#pragma once

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
