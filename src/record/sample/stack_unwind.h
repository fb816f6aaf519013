/* SPDX-License-Identifier: MIT */
/*
 * Walks copied stacks by the CFI of the modules in a process's map, and by caller search in code
 * without CFI. Code on the way is sampled code: the walk requests the module's CFI from the
 * compiler, and the rows of the piece, so that the sampler walks the next stacks itself; where CFI
 * ends, the machine code. Requests are not repeated, unless the compiler had no room.
 */
#pragma once

#include "base/containers/buffer.h"
#include "record/jit/jit_frames.h"
#include "record/tables/compiler.h"
#include "record/round.h"
#include "record/sample/stack_copy.h"
#include "record/summary.h"
#include "unwind/code/caller_cache.h"
#include "unwind/offline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_unwinder {
    struct compiler *compiler;
    const struct round *round;
    struct buffer room; /* the laid-out stack of the current walk */
    struct caller_cache callers;
    struct jit_frames *jit; /* borrowed; NULL: JIT code is not read */
};

/* A walk: from the registers in a stack copy outwards. */
struct stack_walk {
    const struct process_map *map; /* NULL: no mappings */
    const struct stack_copy *from;
    pid_t pid;
    uint64_t *frames;            /* out: RECORD_FRAMES_MAX */
    struct known_module *unread; /* out: the first unread module on the way; NULL */
    bool needs_code;             /* out: unread is the module's code, else the CFI */
    bool awaits_file;            /* out: a file on the way was put off */
};

/* The limit of the recording: --max-frames. */
uint32_t stack_unwind_frames_max(void);

struct offline_result stack_unwind(struct stack_unwinder *unwinder, struct stack_walk *walk);

/* The frames of a RECORD_COPY, walked by the sampler, followed by the frames of the result. */
void stack_unwind_join(const struct stack_copy *from, uint64_t frames[RECORD_FRAMES_MAX],
                       struct offline_result *result);

/* Requests the CFI or the code of walk->unread. */
void stack_unwind_want(struct stack_unwinder *unwinder, const struct stack_walk *walk);

void stack_unwinder_free(struct stack_unwinder *unwinder);

/* Why a stack ends early, other than at the end of its copy (OFFLINE_CUT). */
enum record_cut stack_cut_of(enum offline_end end);
