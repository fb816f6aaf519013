/* SPDX-License-Identifier: MIT */
#include "base/text/decimal.h"

char *decimal_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return end;
}

static unsigned digits_of(uint64_t value)
{
    unsigned digits = 1;
    for (; value >= 100; value /= 100)
        digits += 2;
    return digits + (value >= 10);
}

void decimal_append(struct buffer *out, uint64_t value)
{
    unsigned digits = digits_of(value);
    char *room = (char *)buffer_room(out, digits);
    if (!room)
        return;
    decimal_before(room + digits, value);
    out->size += digits;
}
