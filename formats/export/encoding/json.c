/* SPDX-License-Identifier: MIT */
#include "export/encoding/json.h"

#include "base/text/decimal.h"
#include "base/text/utf8.h"

#include <string.h>

/* After an opening bracket and after a key's colon no comma; at the start of the text neither. */
static bool needs_comma(const struct buffer *out)
{
    if (out->size == 0 || out->failed)
        return false;
    uint8_t last = out->bytes[out->size - 1];
    return last != '{' && last != '[' && last != ':';
}

static void separate(struct buffer *out)
{
    if (needs_comma(out))
        buffer_append(out, ",", 1);
}

void json_open(struct buffer *out, char bracket)
{
    separate(out);
    buffer_append(out, &bracket, 1);
}

void json_close(struct buffer *out, char bracket)
{
    buffer_append(out, &bracket, 1);
}

void json_key(struct buffer *out, const char *key)
{
    json_string(out, key);
    buffer_append(out, ":", 1);
}

static void append_code(struct buffer *out, uint32_t code)
{
    static const char digits[] = "0123456789abcdef";
    const char text[] = {'\\',
                         'u',
                         digits[code >> 12 & 15],
                         digits[code >> 8 & 15],
                         digits[code >> 4 & 15],
                         digits[code & 15]};
    buffer_append(out, text, sizeof(text));
}

/* Escapes the character at p and returns its length. Unprintable characters become \uXXXX. */
static size_t escape(struct buffer *out, const uint8_t *p, size_t left)
{
    size_t length = utf8_length(p, left);
    if (*p == '"' || *p == '\\' || *p == '/') {
        const char pair[] = {'\\', (char)*p};
        buffer_append(out, pair, 2);
    } else if (length) {
        append_code(out, utf8_code(p, length));
    } else {
        buffer_text(out, "\xef\xbf\xbd");
    }
    return length ? length : 1;
}

/* Within <script>, "</script" ends the element and "<!--" hides the end tag (HTML, "Restrictions
 * for contents of script elements"). */
static bool is_markup(const uint8_t *p, size_t at)
{
    return at > 0 && p[at - 1] == '<' && (p[at] == '/' || p[at] == '!');
}

/* Length of the run of characters without escapes. */
static size_t plain_run(const uint8_t *p, size_t left)
{
    size_t run = 0;
    while (run < left && p[run] != '"' && p[run] != '\\' && !is_markup(p, run)) {
        size_t length = utf8_printable_length(p + run, left - run);
        if (length == 0)
            break;
        run += length;
    }
    return run;
}

void json_string(struct buffer *out, const char *text)
{
    separate(out);
    buffer_append(out, "\"", 1);
    const uint8_t *p = (const uint8_t *)text;
    for (size_t left = strlen(text); left > 0;) {
        size_t bytes = plain_run(p, left);
        buffer_append(out, p, bytes);
        if (bytes < left)
            bytes += escape(out, p + bytes, left - bytes);
        p += bytes;
        left -= bytes;
    }
    buffer_append(out, "\"", 1);
}

/* A single append: numbers are most of a file. There must be room for a comma before the start. */
static void append_number(struct buffer *out, char *start, const char *end)
{
    if (needs_comma(out))
        *--start = ',';
    buffer_append(out, start, (size_t)(end - start));
}

void json_unsigned(struct buffer *out, uint64_t value)
{
    char text[24];
    char *end = text + sizeof(text);
    append_number(out, decimal_before(end, value), end);
}

void json_integer(struct buffer *out, int64_t value)
{
    char text[24];
    char *end = text + sizeof(text);
    char *start = decimal_before(end, value < 0 ? -(uint64_t)value : (uint64_t)value);
    if (value < 0)
        *--start = '-';
    append_number(out, start, end);
}

void json_millionths(struct buffer *out, uint64_t value)
{
    char text[32];
    char *end = text + sizeof(text), *point = end;
    uint64_t fraction = value % 1000000;
    if (fraction) {
        /* A leading 1 keeps zeros behind the point; trailing zeros are dropped. */
        point = decimal_before(end, fraction + 1000000);
        *point = '.';
        while (end[-1] == '0')
            end--;
    }
    append_number(out, decimal_before(point, value / 1000000), end);
}

void json_bool(struct buffer *out, bool value)
{
    separate(out);
    buffer_text(out, value ? "true" : "false");
}

void json_null(struct buffer *out)
{
    separate(out);
    buffer_append(out, "null", 4);
}

void json_spelled(struct buffer *out, const void *text, size_t size)
{
    separate(out);
    buffer_append(out, text, size);
}

void json_member_string(struct buffer *out, const char *key, const char *text)
{
    json_key(out, key);
    json_string(out, text);
}

void json_member_integer(struct buffer *out, const char *key, int64_t value)
{
    json_key(out, key);
    json_integer(out, value);
}

void json_member_unsigned(struct buffer *out, const char *key, uint64_t value)
{
    json_key(out, key);
    json_unsigned(out, value);
}

void json_member_millionths(struct buffer *out, const char *key, uint64_t value)
{
    json_key(out, key);
    json_millionths(out, value);
}

void json_member_bool(struct buffer *out, const char *key, bool value)
{
    json_key(out, key);
    json_bool(out, value);
}

void json_member_null(struct buffer *out, const char *key)
{
    json_key(out, key);
    json_null(out);
}
