/* SPDX-License-Identifier: MIT */
#include "base/decimal.h"

char *decimal_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return end;
}

void decimal_append(struct buffer *out, uint64_t value)
{
    char text[20];
    char *end = text + sizeof(text);
    char *start = decimal_before(end, value);
    buffer_append(out, start, (size_t)(end - start));
}
