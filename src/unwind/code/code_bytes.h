/* SPDX-License-Identifier: MIT */
/*
 * The bytes of the executable segments of an ELF file, with zeros between these. All are read at
 * once, or in pieces on demand:
 *
 *     segments   ├──────── r-x ────────┤    ├── r-x ──┤
 *     pieces     │ read │      │ read │ zeros │      │ read │
 */
#pragma once

#include "elf/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_BYTES_AT_ONCE_MAX (UINT64_C(16) << 20)
#define CODE_BYTES_IN_PIECES_MAX (UINT64_C(256) << 20)
/* Of a file in pieces, so much is read at most. */
#define CODE_BYTES_READ_MAX (UINT64_C(4) << 20)

struct code_bytes {
    uint8_t *bytes; /* owned */
    size_t size;
    uint64_t svma;
    struct elf_file *elf; /* owned; NULL: all is read */
    bool *is_read;        /* by piece; owned */
    size_t bytes_read;    /* of pieces */
};

/* The bounds of the executable segments. False: none. */
bool code_bytes_bounds(const struct elf_file *elf, uint64_t *start_svma, uint64_t *end_svma);

/* 0; -ENOTSUP: no code, or too much; -ENOMEM; or the error of a read. code_bytes_close() in any
 * case. */
int code_bytes_read(struct code_bytes *code, const struct elf_file *elf);
/* In pieces: elf is owned from now on, even on failure. For a single thread. */
int code_bytes_open(struct code_bytes *code, struct elf_file *elf);
void code_bytes_close(struct code_bytes *code);

/* Bytes allocated, or allocated at most. */
size_t code_bytes_memory(const struct code_bytes *code);

static inline bool code_bytes_hold(const struct code_bytes *code, uint64_t svma)
{
    return svma >= code->svma && svma - code->svma < code->size;
}

/* In place. NULL: not all of them are code, or unreadable. */
const uint8_t *code_bytes_get(struct code_bytes *code, uint64_t svma, size_t size);
