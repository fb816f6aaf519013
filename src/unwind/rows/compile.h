/* SPDX-License-Identifier: MIT */
/* Compiles the CFI of a file, or of a piece, to the sorted rows of the sampler. */
#pragma once

#include "unwind/cfi/cfi_index.h"
#include "wire/rows.h"

#include <stddef.h>

struct compiled_rows {
    struct row *rows; /* owned; by start, equal neighbours merged, gaps as rows of kind NONE */
    size_t count, capacity;
    size_t bad_fdes;      /* with malformed instructions: compiled as gaps */
    size_t cfi_conflicts; /* functions with CFI for a part, and another CFA there by their code:
                           * their other part has no rows */
};

/* Appends the rows of an entry: at least 1, the first at the entry's start. 0 or -ENOMEM. */
int compile_entry(const struct cfi_index *index, const struct cfi_entry *entry,
                  struct compiled_rows *out);

/*
 * The rule of a gap of this size between entries with these rules. glibc's clone() has no CFI
 * around its system call, so that debuggers end the child's stack there:
 *
 *     entry              gap                   entry
 *     CFA = SP + 8n      syscall, test, jump   the return address is undefined
 */
uint32_t compile_gap_rule(uint32_t before, uint32_t after, uint32_t gap_bytes);

/* No code lies here or beyond. */
#define COMPILE_END (UINT64_C(1) << 32)

/* Compiles the rows of [start, end) into out, which is empty: the first row applies at start. No
 * rows: no CFI at all; a partial index (cfi_index.h) gives at least 1 row. 0, -ENOMEM, or -EFBIG:
 * more than a session holds. */
int compile_rows(const struct cfi_index *index, uint32_t start, uint64_t end,
                 struct compiled_rows *out);
void compile_free(struct compiled_rows *compiled);
