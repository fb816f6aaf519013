/* SPDX-License-Identifier: MIT */
#include "unwind/unwind_cache.h"

#include "base/containers/array.h"

#include <stdlib.h>

enum {
    STEPS_MOST = 1 << 15, /* of all walks: then they are forgotten */
    STEPS_OF_WALK = 256,  /* longer walks are not cached */
    WALKS_MOST = 1 << 13,
};

void unwind_cache_free(struct unwind_cache *walks)
{
    two_way_cache_free(&walks->walks);
    free(walks->steps);
    free(walks->made);
    *walks = (struct unwind_cache){0};
}

static struct two_way_cache_key key_of(const struct cached_frame *frame)
{
    return (struct two_way_cache_key){frame->generation,
                                      frame->regs.pc ^ hash_word(frame->regs.sp)};
}

static bool holds(const struct stack_view *stack, uint64_t avma, uint64_t expected)
{
    uint64_t word;
    return stack_load(stack, avma, &word) && word == expected;
}

static bool is_same(const struct cached_walk *walk, const struct cached_frame *frame, bool needs_fp)
{
    return walk->sp == frame->regs.sp && (!needs_fp || walk->fp == frame->regs.fp) &&
           walk->is_return_address == frame->is_return_address;
}

struct cached_walk *unwind_cache_find(const struct unwind_cache *walks,
                                      const struct cached_frame *frame,
                                      const struct stack_view *stack)
{
    struct cached_walk *walk =
        (struct cached_walk *)two_way_cache_find(&walks->walks, sizeof(*walk), key_of(frame));
    if (!walk || !is_same(walk, frame, walks->steps[walk->first - 1].needs_fp))
        return NULL;
    for (uint32_t number = walk->first; number;) {
        const struct cached_step *step = &walks->steps[number - 1];
        if (!holds(stack, step->caller.sp - 8, step->caller.pc) ||
            (step->fp_avma && !holds(stack, step->fp_avma, step->caller.fp)))
            return NULL;
        number = step->next;
    }
    return walk;
}

void unwind_cache_begin(struct unwind_cache *walks)
{
    if (!walks->made)
        walks->made = malloc(STEPS_OF_WALK * sizeof(*walks->made));
    walks->made_count = 0;
    walks->is_simple = walks->made != NULL;
}

void unwind_cache_other_step(struct unwind_cache *walks)
{
    walks->is_simple = false;
}

void unwind_cache_step(struct unwind_cache *walks, uint32_t rule, const struct unwind_regs *callee,
                       const struct unwind_regs *caller)
{
    enum row_kind kind = row_kind(rule);
    uint32_t k = row_fp(rule);
    walks->is_simple &=
        (kind == ROW_SP || kind == ROW_FP || kind == ROW_PLT) && walks->made_count < STEPS_OF_WALK;
    if (!walks->is_simple)
        return;
    struct cached_step *step = &walks->made[walks->made_count++];
    *step =
        (struct cached_step){.caller = *caller, .needs_fp = kind == ROW_FP || k == ROW_FP_AT_FP};
    if (k != ROW_FP_SAME)
        step->fp_avma = k == ROW_FP_AT_FP ? callee->fp : caller->sp - 8 * (uint64_t)k;
}

/* Appends the steps of the current walk. In most code FP is a general register, irrelevant for the
 * walk. 0, or the number of the first step. */
static uint32_t keep_steps(struct unwind_cache *walks, uint32_t next)
{
    if (array_reserve((void **)&walks->steps, &walks->capacity, walks->count + walks->made_count,
                      sizeof(*walks->steps)) != 0)
        return 0;
    for (size_t i = walks->made_count; i-- > 0;) {
        struct cached_step *step = &walks->steps[walks->count++];
        *step = walks->made[i];
        step->next = next;
        bool caller_needs_fp = next && walks->steps[next - 1].needs_fp;
        if (!caller_needs_fp)
            step->fp_avma = 0;
        step->needs_fp |= caller_needs_fp && !step->fp_avma;
        next = (uint32_t)walks->count;
    }
    return next;
}

static struct cached_walk *keep_frame(struct unwind_cache *walks, const struct cached_frame *frame,
                                      uint32_t first, size_t count)
{
    struct cached_walk *walk =
        two_way_cache_add(&walks->walks, sizeof(*walk), WALKS_MOST, key_of(frame));
    if (!walk)
        return NULL;
    walk->sp = frame->regs.sp;
    walk->fp = frame->regs.fp;
    walk->first = first;
    walk->count = (uint32_t)count;
    walk->call = 0;
    walk->is_return_address = frame->is_return_address;
    walk->root_is_in_code = walks->root_is_in_code;
    return walk;
}

struct cached_walk *unwind_cache_keep(struct unwind_cache *walks, const struct cached_frame *first,
                                      const struct cached_walk *joined)
{
    uint32_t next = joined ? joined->first : 0;
    size_t count = walks->made_count + (joined ? joined->count : 0);
    if (!walks->is_simple || walks->made_count == 0)
        return NULL;
    if (walks->count + STEPS_OF_WALK > STEPS_MOST) {
        two_way_cache_clear(&walks->walks, sizeof(struct cached_walk));
        walks->count = 0;
        return NULL;
    }
    uint32_t number = keep_steps(walks, next);
    if (number == 0)
        return NULL;
    if (walks->made_count > 1)
        (void)keep_frame(walks,
                         &(struct cached_frame){walks->made[0].caller, first->generation, true},
                         number - 1, count - 1);
    return keep_frame(walks, first, number, count);
}
