/* SPDX-License-Identifier: MIT */
#include "symbols/files/partial_lines.h"

#include "base/containers/cursor.h"
#include "base/containers/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { LENGTH_BYTES = 4, LONG_LENGTH_BYTES = 8 };

int partial_lines_open(struct partial_lines *lines, const struct elf_file *elf,
                       const struct elf_section *section, struct buffer *out)
{
    *lines = (struct partial_lines){0};
    int err = elf_stream_open(&lines->stream, elf, section);
    if (err != 0)
        return err;
    lines->size = elf_stream_bytes(lines->stream);
    lines->bytes = table_sparse((size_t)lines->size);
    if (!lines->bytes || lines->size == 0) {
        free(lines->bytes);
        partial_lines_close(lines);
        return -ENOTSUP;
    }
    buffer_free(out);
    *out = (struct buffer){.bytes = lines->bytes, .size = lines->size, .capacity = lines->size};
    return 0;
}

void partial_lines_close(struct partial_lines *lines)
{
    elf_stream_close(lines->stream);
    *lines = (struct partial_lines){0};
}

/* The next bytes become part of the section. */
static int keep(struct partial_lines *lines, uint64_t bytes, struct cursor *kept)
{
    *kept = cursor_of(lines->bytes + lines->at, bytes);
    lines->at += bytes;
    return elf_stream_read(lines->stream, lines->bytes + lines->at - bytes, bytes);
}

static bool has(const struct partial_lines *lines, uint64_t bytes)
{
    return bytes <= lines->size - lines->at;
}

/* Tables that end behind the section are skipped. */
static int read_table(struct partial_lines *lines, uint64_t offset)
{
    struct cursor length;
    if (offset < lines->at || offset > lines->size) /* the same again, or inside of another */
        return 0;
    int err = elf_stream_read(lines->stream, NULL, offset - lines->at);
    lines->at = offset;
    if (err != 0 || !has(lines, LENGTH_BYTES))
        return err;
    err = keep(lines, LENGTH_BYTES, &length);
    uint64_t bytes = err == 0 ? cursor_u32(&length) : 0;
    if (bytes == UINT32_MAX && has(lines, LONG_LENGTH_BYTES)) {
        err = keep(lines, LONG_LENGTH_BYTES, &length);
        bytes = err == 0 ? cursor_u64(&length) : 0;
    }
    return err == 0 && has(lines, bytes) ? keep(lines, bytes, &length) : err;
}

int partial_lines_read(struct partial_lines *lines, const uint64_t *offsets, size_t count)
{
    int err = 0;
    for (size_t i = 0; i < count && lines->stream && err == 0; i++)
        err = read_table(lines, offsets[i]);
    partial_lines_close(lines);
    return err;
}
