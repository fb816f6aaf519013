/* SPDX-License-Identifier: MIT */
#include "unwind/code/code_bytes.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PIECE_BYTES = 16 << 10 };

static bool is_code(const struct elf_segment *segment)
{
    return segment->type == PT_LOAD && (segment->flags & PF_X) && segment->file_bytes > 0;
}

bool code_bytes_bounds(const struct elf_file *elf, uint64_t *start_svma, uint64_t *end_svma)
{
    *start_svma = UINT64_MAX;
    *end_svma = 0;
    for (size_t i = 0; i < elf_segment_count(elf); i++) {
        const struct elf_segment *segment = elf_segment(elf, i);
        uint64_t end;
        if (!is_code(segment) || __builtin_add_overflow(segment->svma, segment->file_bytes, &end))
            continue;
        *start_svma = segment->svma < *start_svma ? segment->svma : *start_svma;
        *end_svma = end > *end_svma ? end : *end_svma;
    }
    return *end_svma > *start_svma;
}

/* 0: no code, or too much. */
static size_t find_bounds(struct code_bytes *code, const struct elf_file *elf, uint64_t bytes_max)
{
    uint64_t end_svma;
    *code = (struct code_bytes){0};
    bool is_possible = code_bytes_bounds(elf, &code->svma, &end_svma);
    return is_possible && end_svma - code->svma <= bytes_max ? end_svma - code->svma : 0;
}

static int set_bytes(struct code_bytes *code, uint8_t *bytes, size_t size)
{
    code->bytes = bytes;
    code->size = bytes ? size : 0;
    return bytes ? 0 : -ENOMEM;
}

/* Not by calloc(): in memory that was used before, calloc() clears 24 MiB for cc1, of which a
 * recording reads a few pieces. */
static uint8_t *map_zeros(size_t size)
{
    void *zeros = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED)
        return NULL;
    (void)madvise(zeros, size, MADV_NOHUGEPAGE); /* 2 MiB at the first piece otherwise */
    return zeros;
}

/* The parts of segments in [svma, svma + size), all of it within the bounds. Segments of programs
 * do not overlap. */
static int read_part(struct code_bytes *code, const struct elf_file *elf, uint64_t svma,
                     uint64_t size)
{
    uint64_t left = size;
    int err = 0;
    for (size_t i = 0; i < elf_segment_count(elf) && err == 0; i++) {
        const struct elf_segment *segment = elf_segment(elf, i);
        uint64_t start = segment->svma > svma ? segment->svma : svma, end;
        if (!is_code(segment) || __builtin_add_overflow(segment->svma, segment->file_bytes, &end))
            continue;
        end = end < svma + size ? end : svma + size;
        if (end <= start)
            continue;
        if (end - start > left)
            return -EBADMSG;
        left -= end - start;
        err = elf_read_svma(elf, start, code->bytes + (start - code->svma), end - start);
    }
    return err;
}

int code_bytes_read(struct code_bytes *code, const struct elf_file *elf)
{
    size_t size = find_bounds(code, elf, CODE_BYTES_AT_ONCE_MAX);
    int err = size ? set_bytes(code, calloc(1, size), size) : -ENOTSUP;
    return err ? err : read_part(code, elf, code->svma, code->size);
}

int code_bytes_open(struct code_bytes *code, struct elf_file *elf)
{
    size_t size = find_bounds(code, elf, CODE_BYTES_IN_PIECES_MAX);
    int err = size ? set_bytes(code, map_zeros(size), size) : -ENOTSUP;
    code->elf = elf;
    code->is_read = calloc(code->size / PIECE_BYTES + 1, sizeof(*code->is_read));
    return err == 0 && !code->is_read ? -ENOMEM : err;
}

void code_bytes_close(struct code_bytes *code)
{
    if (code->elf && code->bytes)
        munmap(code->bytes, code->size);
    else
        free(code->bytes);
    elf_close(code->elf);
    free(code->is_read);
    *code = (struct code_bytes){0};
}

size_t code_bytes_memory(const struct code_bytes *code)
{
    bool is_bounded = code->elf && code->size > CODE_BYTES_READ_MAX;
    return is_bounded ? CODE_BYTES_READ_MAX : code->size;
}

static bool read_piece(struct code_bytes *code, size_t piece)
{
    size_t at = piece * PIECE_BYTES;
    size_t size = code->size - at < PIECE_BYTES ? code->size - at : PIECE_BYTES;
    if (code->is_read[piece])
        return true;
    code->bytes_read += size;
    code->is_read[piece] = code->bytes_read <= CODE_BYTES_READ_MAX &&
                           read_part(code, code->elf, code->svma + at, size) == 0;
    return code->is_read[piece];
}

const uint8_t *code_bytes_get(struct code_bytes *code, uint64_t svma, size_t size)
{
    size_t at = (size_t)(svma - code->svma);
    bool is_whole = code_bytes_hold(code, svma) && size <= code->size - at;
    for (size_t piece = at / PIECE_BYTES;
         is_whole && code->elf && size > 0 && piece <= (at + size - 1) / PIECE_BYTES; piece++)
        is_whole = read_piece(code, piece);
    return is_whole ? code->bytes + at : NULL;
}
