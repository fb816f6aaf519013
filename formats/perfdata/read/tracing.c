/* SPDX-License-Identifier: MIT */
#include "perfdata/read/tracing.h"

#include <stdlib.h>
#include <string.h>

/* A line without its newline; false at the end of the text. */
static bool next_line(struct cursor *text, const char **line, size_t *size)
{
    if (text->failed || cursor_left(text) == 0)
        return false;
    *line = (const char *)text->bytes + text->at;
    const char *end = memchr(*line, '\n', cursor_left(text));
    *size = end ? (size_t)(end - *line) : cursor_left(text);
    cursor_skip(text, *size + (end ? 1 : 0));
    return true;
}

/* The number behind a key such as "offset:"; false when the line has none. */
static bool number_of(const char *line, size_t size, const char *key, unsigned long *number)
{
    const char *found = memmem(line, size, key, strlen(key));
    if (!found)
        return false;
    char digits[24] = "";
    const char *from = found + strlen(key);
    size_t left = size - (size_t)(from - line);
    memcpy(digits, from, left < sizeof(digits) - 1 ? left : sizeof(digits) - 1);
    char *end;
    *number = strtoul(digits, &end, 10);
    return end != digits;
}

static bool has_id(struct cursor format, uint64_t tracepoint)
{
    const char *line;
    size_t size;
    unsigned long id;
    while (next_line(&format, &line, &size))
        if (size > 3 && memcmp(line, "ID:", 3) == 0)
            return number_of(line, size, "ID:", &id) && id == tracepoint;
    return false;
}

/* Skips the part before the systems; false: malformed. */
static bool skip_preamble(struct cursor *c)
{
    static const char magic[] = "\x17\x08\x44tracing";
    const uint8_t *bytes = cursor_bytes(c, sizeof(magic) - 1);
    if (!bytes || memcmp(bytes, magic, sizeof(magic) - 1) != 0)
        return false;
    cursor_string(c);  /* version */
    cursor_skip(c, 6); /* byte order, size of long, of a page */
    for (int i = 0; i < 2; i++) {
        cursor_string(c); /* "header_page", "header_event" */
        cursor_skip(c, cursor_u64(c));
    }
    for (uint32_t count = cursor_u32(c); count > 0 && !c->failed; count--)
        cursor_skip(c, cursor_u64(c));
    return !c->failed;
}

struct cursor tracing_format(struct cursor payload, uint64_t tracepoint)
{
    struct cursor none = {.failed = true};
    if (!skip_preamble(&payload))
        return none;
    for (uint32_t systems = cursor_u32(&payload); systems > 0 && !payload.failed; systems--) {
        cursor_string(&payload);
        for (uint32_t count = cursor_u32(&payload); count > 0 && !payload.failed; count--) {
            struct cursor format = cursor_sub(&payload, cursor_u64(&payload));
            if (!format.failed && has_id(format, tracepoint))
                return format;
        }
    }
    return none;
}

/* "field:char prev_comm[16];\toffset:8;": whether the declaration ends with the name. */
static bool declares(const char *line, size_t size, const char *name)
{
    const char *start = memmem(line, size, "field:", 6);
    const char *end = start ? memchr(start, ';', size - (size_t)(start - line)) : NULL;
    if (!end)
        return false;
    const char *bracket = memchr(start, '[', (size_t)(end - start));
    end = bracket ? bracket : end;
    size_t length = strlen(name);
    return (size_t)(end - start) > length && memcmp(end - length, name, length) == 0 &&
           end[-(ptrdiff_t)length - 1] == ' ';
}

bool tracing_field(struct cursor format, const char *name, struct perfdata_field *field)
{
    const char *line;
    size_t size;
    while (next_line(&format, &line, &size)) {
        unsigned long offset, bytes, is_signed = 0;
        if (!declares(line, size, name) || !number_of(line, size, "offset:", &offset) ||
            !number_of(line, size, "size:", &bytes))
            continue;
        (void)number_of(line, size, "signed:", &is_signed);
        *field = (struct perfdata_field){offset, bytes, is_signed != 0};
        return true;
    }
    return false;
}
