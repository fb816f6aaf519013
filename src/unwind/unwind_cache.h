/* SPDX-License-Identifier: MIT */
/*
 * Walks up a stack that were made before: programs are in the same places again and again. Two samples with the same
 * PC and SP have the same callers as long as the words that the first walk read are what they were. To compare them
 * takes no rule of any frame, and where they lie is known before any of them is read.
 *
 *     frame   0 ───▶ 1 ───▶ 2 ───▶ 3 … root     walked
 *             0'─────┘                          joins it in its second frame: known from there on
 *
 * Kept are walks by rows alone that reach the root. Joined are their innermost frames: what differs from one sample to the
 * next is often the place in function 0 only.
 */
#pragma once

#include "base/containers/two_way_cache.h"
#include "unwind/step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Out of a frame into its caller. */
struct cached_step {
    struct unwind_regs caller; /* its PC lies right below its SP */
    uint64_t fp_avma; /* where its FP lay; 0: as it was in the callee, or nobody needs it */
    uint32_t next;    /* number of the caller's own step; 0: it is the root */
    bool needs_fp;    /* this step, or one behind it, goes by the callee's FP */
};

struct cached_frame { /* where a walk may be joined */
    struct unwind_regs regs;
    uint64_t generation; /* of the process's map */
    bool is_return_address;
};

struct cached_walk { /* from a frame on */
    struct two_way_cache_key key;
    uint64_t sp, fp;
    uint32_t first, count; /* of its steps */
    uint32_t call;         /* what it is to who asked for it; 0: not known yet */
    bool is_return_address;
};

struct unwind_cache {           /* zeros: none */
    struct two_way_cache walks; /* by frame */
    struct cached_step *steps;  /* of all walks, by number less one */
    size_t count, capacity;
    struct cached_step *made; /* by the walk under way */
    size_t made_count;
    bool is_simple; /* all that it made; else it is not kept */
};

enum { UNWIND_CACHE_FRAMES = 2 }; /* of a walk that may be joined */

void unwind_cache_free(struct unwind_cache *walks);

/* The walk from a frame to the root, if one was kept and its words are the same; else NULL. Valid until the next is kept. */
struct cached_walk *unwind_cache_find(const struct unwind_cache *walks,
                                      const struct cached_frame *frame,
                                      const struct stack_view *stack);

/* A walk begins; makes a step by a rule, or in another way, with which it is not kept. */
void unwind_cache_begin(struct unwind_cache *walks);
void unwind_cache_step(struct unwind_cache *walks, uint32_t rule, const struct unwind_regs *callee,
                       const struct unwind_regs *caller);
void unwind_cache_other_step(struct unwind_cache *walks);

/* It has reached the root, or a walk that is known (joined; else NULL). Returns it from its first frame on; NULL: it is not
 * kept, or memory is out. */
struct cached_walk *unwind_cache_keep(struct unwind_cache *walks, const struct cached_frame *first,
                                      const struct cached_walk *joined);
