/* SPDX-License-Identifier: MIT */
/*
 * Where functions start in code without symbols: at targets of calls, at addresses taken, and at
 * tail calls. Addresses taken may also be labels of jump tables made by hand, so such a start is
 * not firm: the function may have started earlier, unless another function takes the address.
 */
#pragma once

#include "unwind/arch/machine_code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function_start {
    uint64_t svma;
    bool is_firm;  /* a symbol, or the target of a call */
    bool is_label; /* maybe inside of a function; never of a firm start */
};

struct function_starts {
    const struct machine_code *machine;
    const uint8_t *code; /* borrowed */
    size_t bytes;
    uint64_t svma;
    struct function_start *starts; /* owned; by svma after function_starts_sort() */
    size_t count, capacity;
};

/* A start outside of the code is left out. 0, -EFBIG: more starts than compilers make; or -ENOMEM.
 */
int function_starts_add(struct function_starts *starts, uint64_t svma, bool is_firm);

/* Sorts the starts and drops duplicates. 0 or -ENOMEM. */
int function_starts_sort(struct function_starts *starts);

/* Adds the starts that the code refers to; sorts all and drops duplicates. Results as above. */
int function_starts_find(struct function_starts *starts);

/* A start at svma, if there is one, is firm. */
void function_starts_confirm(struct function_starts *starts, uint64_t svma);

/* The last start at or below svma; NULL: none. */
const struct function_start *function_starts_before(const struct function_starts *starts,
                                                    uint64_t svma);

void function_starts_free(struct function_starts *starts);
