/* SPDX-License-Identifier: MIT */
/* From the CFI of a file, or a piece of it, to the sorted rows that the sampler uses. */
#pragma once

#include "unwind/cfi/cfi_index.h"
#include "wire/rows.h"

#include <stddef.h>

struct compiled_rows {
    struct row *rows; /* owned; by start, equal neighbours merged, gaps as rows of kind NONE */
    size_t count, capacity;
    size_t bad_fdes; /* whose instructions are malformed: they are gaps */
};

/* Appends the rows of one entry: at least one, and the first begins where the entry does. 0 or -ENOMEM. */
int compile_entry(const struct cfi_index *index, const struct cfi_entry *entry,
                  struct compiled_rows *out);

/*
 * The rule in a gap of so many bytes between the entries with these rules. glibc's clone() leaves
 * its system call out of the CFI, for debuggers to end the child's stack there:
 *
 *     entry              gap                   entry
 *     CFA = SP + 8n      syscall, test, jump   the return address is undefined
 */
uint32_t compile_gap_rule(uint32_t before, uint32_t after, uint32_t gap_bytes);

/* No code lies here or beyond. */
#define COMPILE_END (UINT64_C(1) << 32)

/* All that hold somewhere in [start, end), into out, which is empty: the first holds at start. None: there is no CFI at
 * all; of a piece (cfi_index.h) there is one at least. 0, -ENOMEM, or -EFBIG: more than a session holds. */
int compile_rows(const struct cfi_index *index, uint32_t start, uint64_t end,
                 struct compiled_rows *out);
void compile_free(struct compiled_rows *compiled);
