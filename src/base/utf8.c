/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

/* Well-formed as in RFC 3629: shortest form, no surrogates, nothing past U+10FFFF. */
size_t utf8_length(const uint8_t *bytes, size_t size)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (bytes[0] < 0x80)
        return 1;
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
        return 0;
    size_t length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    if (length > size)
        return 0;
    uint32_t code = bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (bytes[i] & 0x3fu);
    }
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    return length;
}

/* How many bytes from here on are whole characters. */
static size_t valid_length(const uint8_t *bytes, size_t size)
{
    size_t valid = 0;
    for (size_t length; valid < size; valid += length) {
        length = utf8_length(bytes + valid, size - valid);
        if (length == 0)
            break;
    }
    return valid;
}

void utf8_append(struct buffer *out, const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    for (size_t left = strlen(text); left > 0;) {
        size_t valid = valid_length(p, left);
        buffer_append(out, p, valid);
        p += valid;
        left -= valid;
        if (left == 0)
            break;
        buffer_text(out, "\xef\xbf\xbd");
        p++;
        left--;
    }
}
