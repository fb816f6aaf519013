/* SPDX-License-Identifier: MIT */
#include "record/procfs/kernel/kernel_symbols.h"

#include "base/containers/array.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 << 10, TEXT_BYTES_MAX = 256 << 20 };

void kernel_symbols_open(struct kernel_symbols *symbols, int fd)
{
    *symbols = (struct kernel_symbols){.fd = fd, .is_open = fd >= 0};
}

void kernel_symbols_open_running(struct kernel_symbols *symbols)
{
    kernel_symbols_open(symbols, open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
    kernel_lookup_open(&symbols->lookup);
}

static void end_reading(struct kernel_symbols *symbols)
{
    if (symbols->is_open)
        close(symbols->fd);
    symbols->is_open = false;
}

void kernel_symbols_close(struct kernel_symbols *symbols)
{
    end_reading(symbols);
    buffer_free(&symbols->text);
    kernel_lookup_close(&symbols->lookup);
    kernel_ranges_free(&symbols->found);
}

/* False: nothing is left. */
static bool read_more(struct kernel_symbols *symbols)
{
    if (!symbols->is_open)
        return false;
    size_t room = symbols->text.size < TEXT_BYTES_MAX ? PIECE_BYTES : 0;
    uint8_t *piece = room ? buffer_room(&symbols->text, room) : NULL;
    ssize_t got = 0;
    while (piece && (got = read(symbols->fd, piece, room)) < 0 && errno == EINTR)
        continue;
    if (got > 0)
        symbols->text.size += (size_t)got;
    else
        end_reading(symbols);
    return got > 0;
}

/* The offset of the line behind the one at this offset; the size of the text: there is none. */
static size_t next_line(const struct buffer *text, size_t at)
{
    const char *start = (const char *)text->bytes + at;
    const char *end = memchr(start, '\n', text->size - at);
    return end ? at + (size_t)(end + 1 - start) : text->size;
}

static uint64_t avma_at(const struct buffer *text, size_t line)
{
    char digits[17] = "";
    if (text->size - line > sizeof(digits))
        memcpy(digits, text->bytes + line, sizeof(digits) - 1);
    return strtoull(digits, NULL, 16);
}

/* Bytes up to the next symbol with a greater address; 0: not read yet. */
static uint64_t bytes_at(const struct buffer *text, size_t line)
{
    uint64_t avma = avma_at(text, line), next_avma = avma;
    while (next_avma == avma && line < text->size) {
        line = next_line(text, line);
        next_avma = line < text->size ? avma_at(text, line) : 0;
    }
    return next_avma > avma ? next_avma - avma : 0;
}

/* "ffffffff81000000 T _text", "ffffffffc0000000 t ext4_fill_super\t[ext4]" */
static bool is_name_at(const struct buffer *text, size_t at, const struct kernel_function *function)
{
    const char *name = (const char *)text->bytes + at;
    return at < text->size && text->size - at > function->name_length &&
           memcmp(name, function->name, function->name_length) == 0 &&
           name[function->name_length] == (function->is_in_module ? '\t' : '\n');
}

/* Of the first line with the name in the text from *line on; moves *line to the first line that is
 * not judged. 0: not there. */
static uint64_t find_in(const struct buffer *text, const struct kernel_function *function,
                        size_t *line)
{
    enum { NAME_AT = 19 };
    for (size_t next; (next = next_line(text, *line)) < text->size; *line = next) {
        if (!is_name_at(text, *line + NAME_AT, function))
            continue;
        uint64_t bytes = function->is_in_module ? function->bytes : bytes_at(text, *line);
        if (bytes == 0)
            return 0;
        if (bytes == function->bytes)
            return avma_at(text, *line);
    }
    return 0;
}

static void keep(struct kernel_ranges *ranges, const struct kernel_function *function,
                 uint64_t start_avma)
{
    uint64_t end_avma;
    if (__builtin_add_overflow(start_avma, function->bytes, &end_avma) ||
        kernel_ranges_find(ranges, start_avma))
        return;
    char *name = strndup(function->name, function->name_length);
    struct kernel_range *range =
        name ? ARRAY_PUSH(ranges->ranges, ranges->count, ranges->capacity) : NULL;
    if (range)
        *range = (struct kernel_range){start_avma, end_avma, name};
    else
        free(name);
}

static uint64_t find_in_text(struct kernel_symbols *symbols, const struct kernel_function *function)
{
    size_t line = 0;
    uint64_t avma;
    do {
        avma = symbols->text.size ? find_in(&symbols->text, function, &line) : 0;
    } while (!avma && read_more(symbols));
    return avma;
}

uint64_t kernel_symbols_find(struct kernel_symbols *symbols, const struct kernel_function *function)
{
    uint64_t avma = kernel_lookup_find(&symbols->lookup, function);
    if (!avma)
        avma = find_in_text(symbols, function);
    if (avma)
        keep(&symbols->found, function, avma);
    return avma;
}

const struct kernel_range *kernel_ranges_find(const struct kernel_ranges *ranges, uint64_t avma)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (avma >= ranges->ranges[i].start_avma && avma < ranges->ranges[i].end_avma)
            return &ranges->ranges[i];
    return NULL;
}

void kernel_ranges_free(struct kernel_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        free(ranges->ranges[i].name);
    free(ranges->ranges);
    *ranges = (struct kernel_ranges){0};
}
