/* SPDX-License-Identifier: MIT */
#include "base/say.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

static bool is_quiet;

/* Length of the valid UTF-8 sequence at p that is safe to show, or 0. */
static size_t printable_length(const unsigned char *p)
{
    if (p[0] >= 0x20 && p[0] < 0x7f)
        return 1;
    size_t length = p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 0;
    if (length == 0 || p[0] >= 0xf5)
        return 0;
    uint32_t code = p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3fu);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    bool is_c1 = code < 0xa0;
    bool is_bidi = (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x2069) || code == 0x061c || code == 0xfeff;
    return is_c1 || is_bidi ? 0 : length;
}

static void escape(char *out, size_t size, const char *text, bool keep_newlines)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t used = 0;
    while (*p && used + 5 < size) {
        size_t length = printable_length(p);
        if (length == 0 && keep_newlines && *p == '\n')
            length = 1;
        if (length == 0) {
            out[used++] = '?';
            p++;
            continue;
        }
        memcpy(out + used, p, length);
        used += length;
        p += length;
    }
    out[used] = '\0';
}

char *text_escape(char *out, size_t size, const char *text)
{
    if (size > 5)
        escape(out, size, text, false);
    else if (size > 0)
        out[0] = '\0';
    return out;
}

static void print(FILE *stream, const char *prefix, const char *format, va_list args,
                  const char *suffix)
{
    char raw[4096];
    char clean[4096];
    vsnprintf(raw, sizeof(raw), format, args);
    escape(clean, sizeof(clean), raw, true);
    if (stream == stderr)
        fflush(stdout); /* what was printed before comes before, also where both are one file */
    fprintf(stream, "%s%s%s", prefix, clean, suffix);
}

void say_set_quiet(bool quiet)
{
    is_quiet = quiet;
}

void say(const char *format, ...)
{
    if (is_quiet)
        return;
    va_list args;
    va_start(args, format);
    print(stderr, "rec: ", format, args, "\n");
    va_end(args);
}

void say_failure(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(stderr, "rec: ", format, args, "\n");
    va_end(args);
}

void text_print(FILE *stream, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(stream, "", format, args, "");
    va_end(args);
}
