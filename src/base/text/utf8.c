/* SPDX-License-Identifier: MIT */
#include "base/text/utf8.h"

#include <stdbool.h>
#include <string.h>

uint32_t utf8_code(const uint8_t *bytes, size_t length)
{
    if (length == 1)
        return bytes[0];
    uint32_t code = bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (bytes[i] & 0x3fu);
    return code;
}

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
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    uint32_t code = utf8_code(bytes, length);
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    return length;
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Unicode 15, UAX #9 section 2 (bidirectional controls); U+2028 and U+2029 end a line; U+FEFF is
 * invisible. */
static bool is_format(uint32_t code)
{
    return code == 0x061c || (code >= 0x200e && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0xfeff;
}

size_t utf8_printable_length(const uint8_t *bytes, size_t size)
{
    size_t length = utf8_length(bytes, size);
    uint32_t code = length ? utf8_code(bytes, length) : 0;
    return is_control(code) || is_format(code) ? 0 : length;
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

static size_t printable_run(const uint8_t *bytes, size_t size)
{
    size_t run = 0;
    for (size_t length; run < size; run += length) {
        length = utf8_printable_length(bytes + run, size - run);
        if (length == 0)
            break;
    }
    return run;
}

void utf8_append_line(struct buffer *out, const char *text)
{
    const uint8_t *p = (const uint8_t *)text;
    for (size_t left = strlen(text); left > 0;) {
        size_t run = printable_run(p, left);
        buffer_append(out, p, run);
        p += run;
        left -= run;
        if (left == 0)
            break;
        size_t length = utf8_length(p, left);
        buffer_text(out, length == 1 ? " " : "\xef\xbf\xbd");
        p += length ? length : 1;
        left -= length ? length : 1;
    }
}
