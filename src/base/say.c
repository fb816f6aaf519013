/* SPDX-License-Identifier: MIT */
#include "base/say.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

static bool is_quiet;

/* Length of the well-formed sequence at p, which is no end, if it is safe to show, or 0. */
static size_t printable_length(const unsigned char *p)
{
    size_t length = utf8_length(p, strnlen((const char *)p, 4));
    if (length == 1)
        return p[0] >= 0x20 && p[0] < 0x7f;
    uint32_t code = p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (p[i] & 0x3fu);
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
