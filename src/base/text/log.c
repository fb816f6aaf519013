/* SPDX-License-Identifier: MIT */
#include "base/text/log.h"

#include "base/text/utf8.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

static bool is_quiet;

char *text_escape(char *out, size_t size, const char *text)
{
    enum { LONGEST_CHARACTER = 4 };
    const uint8_t *p = (const uint8_t *)text;
    size_t used = 0;
    while (*p && used + LONGEST_CHARACTER < size) {
        size_t length = utf8_printable_length(p, strnlen((const char *)p, LONGEST_CHARACTER));
        if (length)
            memcpy(out + used, p, length);
        else
            out[used] = '?';
        used += length ? length : 1;
        p += length ? length : 1;
    }
    if (size > 0)
        out[used] = '\0';
    return out;
}

/* A newline at the end of the format is printed; any other newline comes from an argument and is
 * escaped. */
static void print(FILE *stream, const char *prefix, const char *format, va_list args)
{
    char raw[4096] = "";
    char clean[4096];
    size_t format_bytes = strlen(format);
    bool ends_line = format_bytes && format[format_bytes - 1] == '\n';
    int bytes = vsnprintf(raw, sizeof(raw), format, args);
    if (ends_line && bytes > 0 && (size_t)bytes < sizeof(raw))
        raw[bytes - 1] = '\0';
    text_escape(clean, sizeof(clean), raw);
    if (stream == stderr)
        fflush(stdout); /* keeps the order of output if both streams go to one file */
    fprintf(stream, "%s%s%s", prefix, clean, ends_line || prefix[0] ? "\n" : "");
}

void log_set_quiet(bool quiet)
{
    is_quiet = quiet;
}

void log_info(const char *format, ...)
{
    if (is_quiet)
        return;
    va_list args;
    va_start(args, format);
    print(stderr, "rec: ", format, args);
    va_end(args);
}

void log_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(stderr, "rec: ", format, args);
    va_end(args);
}

void text_print(FILE *stream, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(stream, "", format, args);
    va_end(args);
}
