/* SPDX-License-Identifier: MIT */
/*
 * What the offline unwinder looks up in generated code (struct generated_code): read in the
 * process, once for each address.
 */
#pragma once

#include "record/jit/jit_frames.h"
#include "unwind/code/code_map.h"

/* The context. */
struct jit_code {
    struct jit_frames *jit; /* reads, and keeps the results */
    pid_t pid;
    const struct process_map *map; /* NULL: nothing is mapped */
};

extern const struct generated_code jit_generated_code;

/* Whether the code of the process, generated at run time, has its caller's FP at an instruction. */
bool jit_code_has_callers_fp(struct jit_code *code, uint64_t avma);
