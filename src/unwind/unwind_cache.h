/* SPDX-License-Identifier: MIT */
/*
 * Cached walks up a stack: programs are at the same places again and again. Two samples with the
 * same PC and SP have the same callers if the stack words read by the first walk are unchanged. The
 * comparison needs no rules, and the addresses of the words are available at once.
 *
 *     frame   0 ───▶ 1 ───▶ 2 ───▶ 3 … root     walked
 *             0'─────┘                          joins in the second frame: cached from there on
 *
 * Cached are walks by rows alone up to the root. Walks are joined in their innermost frames:
 * samples often differ in the place in function 0 only.
 */
#pragma once

#include "base/containers/two_way_cache.h"
#include "unwind/step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From a frame to its caller. */
struct cached_step {
    struct unwind_regs caller; /* PC lies right below SP */
    uint64_t fp_avma;          /* address of the saved FP; 0: unchanged, or irrelevant */
    uint32_t next;             /* number of the caller's step; 0: the root */
    bool needs_fp;             /* this step, or a later step, uses the callee's FP */
};

struct cached_frame { /* where a walk may be joined */
    struct unwind_regs regs;
    uint64_t generation; /* of the process's map */
    bool is_return_address;
};

struct cached_walk { /* from a frame on */
    struct two_way_cache_key key;
    uint64_t sp, fp;
    uint32_t first, count; /* steps of the walk */
    uint32_t call;         /* the user's id of the callchain; 0: not set */
    bool is_return_address;
    bool root_is_in_code; /* as in struct offline_result */
};

struct unwind_cache {           /* zeros: none */
    struct two_way_cache walks; /* by frame */
    struct cached_step *steps;  /* of all walks; a step's number is its index plus one */
    size_t count, capacity;
    struct cached_step *made; /* by the walk under way */
    size_t made_count;
    bool is_simple;       /* rows only so far; other walks are not cached */
    bool root_is_in_code; /* of the walk that ends; set before unwind_cache_keep() */
};

enum { UNWIND_CACHE_FRAMES = 2 }; /* joinable frames of a walk */

void unwind_cache_free(struct unwind_cache *walks);

/* The cached walk from a frame to the root, if the words on the stack are unchanged; else NULL.
 * Valid until the next unwind_cache_keep(). */
struct cached_walk *unwind_cache_find(const struct unwind_cache *walks,
                                      const struct cached_frame *frame,
                                      const struct stack_view *stack);

/* Starts a walk; records a step by rule; records any other step, which prevents caching. */
void unwind_cache_begin(struct unwind_cache *walks);
void unwind_cache_step(struct unwind_cache *walks, uint32_t rule, const struct unwind_regs *callee,
                       const struct unwind_regs *caller);
void unwind_cache_other_step(struct unwind_cache *walks);

/* Ends a walk at the root, or at a cached walk (joined; else NULL). Returns the whole walk; NULL:
 * not cached. */
struct cached_walk *unwind_cache_keep(struct unwind_cache *walks, const struct cached_frame *first,
                                      const struct cached_walk *joined);
