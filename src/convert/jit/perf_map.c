/* SPDX-License-Identifier: MIT */
#include "convert/jit/jit_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 64 * 1024 };
/* Above, the size is damage: a single piece would hide all others. */
#define LARGEST_CODE (UINT64_C(1) << 30)

/* Parses a hexadecimal number and the blank behind; NULL: no number. */
static const char *read_number(const char *text, uint64_t *value)
{
    char *end;
    if (!strchr("0123456789abcdefABCDEF", text[0]) || text[0] == '\0')
        return NULL;
    errno = 0;
    *value = strtoull(text, &end, 16);
    return errno == 0 && end[0] == ' ' ? end + 1 : NULL;
}

/* line: terminated. */
static int add_line(struct jit_codes *codes, const char *line)
{
    uint64_t avma, bytes, end;
    const char *rest = read_number(line, &avma);
    rest = rest ? read_number(rest, &bytes) : NULL;
    if (!rest || rest[0] == '\0' || bytes == 0 || bytes > LARGEST_CODE ||
        __builtin_add_overflow(avma, bytes, &end))
        return 0;
    struct jit_code *code = jit_codes_add(codes);
    if (!code)
        return -ENOSPC;
    *code = (struct jit_code){.avma = avma,
                              .bytes = bytes,
                              .generation = 1,
                              .name = jit_codes_text(codes, rest, strlen(rest))};
    return code->name ? 0 : -ENOSPC;
}

int perf_map_parse(struct jit_codes *codes, const void *bytes, size_t size)
{
    const char *at = bytes, *end = at + size;
    char *line = malloc(LONGEST_LINE);
    int err = line ? 0 : -ENOMEM;
    while (err == 0 && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        /* A killed program may leave an incomplete last line. */
        if (!newline)
            break;
        size_t length = (size_t)(newline - at);
        if (length < LONGEST_LINE && !memchr(at, 0, length)) {
            memcpy(line, at, length);
            line[length] = '\0';
            err = add_line(codes, line);
        }
        at = newline + 1;
    }
    free(line);
    return err == -ENOMEM ? err : 0; /* -ENOSPC: a limit; keep the pieces so far */
}
