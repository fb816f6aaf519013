/* SPDX-License-Identifier: MIT */
#include "annotate/source_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where the line at this place ends, newline included. */
static const char *end_of(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

int source_lines_find(struct source_lines *lines)
{
    const char *text = lines->text.size ? (const char *)lines->text.bytes : "";
    size_t count = 0;
    for (const char *at = text; *at; at = end_of(at))
        count++;
    lines->starts = malloc((count + 1) * sizeof(*lines->starts));
    if (!lines->starts)
        return -ENOMEM;
    const char *at = text;
    for (size_t i = 0; i < count; i++, at = end_of(at))
        lines->starts[i] = (uint32_t)(at - text);
    lines->starts[count] = (uint32_t)(at - text);
    lines->count = count;
    return 0;
}

void source_lines_free(struct source_lines *lines)
{
    buffer_free(&lines->text);
    free(lines->starts);
    *lines = (struct source_lines){0};
}

const char *source_line(const struct source_lines *lines, uint32_t line, size_t *length)
{
    *length = 0;
    if (line == 0 || line > lines->count)
        return "";
    const char *start = (const char *)lines->text.bytes + lines->starts[line - 1];
    *length = lines->starts[line] - lines->starts[line - 1];
    if (start[*length - 1] == '\n')
        --*length;
    return start;
}
