/* SPDX-License-Identifier: MIT */
/*
 * Walks copied stacks by the CFI of the modules in a process' map. Code that a walk leads through
 * is code that samples hit: its CFI is requested from the compiler, and the rows of its piece, so
 * that the sampler walks the next stacks itself. Requests are not repeated, unless the compiler had
 * no room.
 */
#pragma once

#include "base/containers/buffer.h"
#include "record/tables/compiler.h"
#include "record/round.h"
#include "record/sample/stack_copy.h"
#include "unwind/offline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_unwinder {
    struct compiler *compiler;
    const struct round *round;
    struct buffer room; /* the laid-out stack of the current walk */
};

/* One walk: from the registers in a stack copy outwards. */
struct stack_walk {
    const struct process_map *map; /* NULL: no mappings are known */
    const struct stack_copy *from;
    bool is_return_address; /* of the first PC: frames were walked before */
    uint64_t *frames;       /* out */
    size_t max_frames;
    struct known_module *unread; /* out: the first module met whose CFI was not read yet; NULL */
};

struct offline_result stack_unwind(struct stack_unwinder *unwinder, struct stack_walk *walk);

/* Requests the CFI of a module that is not MODULE_READ. */
void stack_unwind_want_cfi(struct stack_unwinder *unwinder, struct known_module *module);

void stack_unwinder_free(struct stack_unwinder *unwinder);
