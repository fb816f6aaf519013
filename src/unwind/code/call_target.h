/* SPDX-License-Identifier: MIT */
/*
 * Whether a stack word is the return address of the callee: a call instruction precedes the
 * address, and the call leads to the callee's function.
 */
#pragma once

#include "unwind/code/code_map.h"
#include "unwind/code/evidence.h"
#include "unwind/step.h"

struct call_target {
    const struct code_map *map;
    const struct stack_view *stack;
    struct code_place place; /* of the callee */
    uint64_t start_svma;     /* of the callee's function */
    uint64_t end_svma;       /* the next known start behind the callee's PC */
    bool is_at_place;        /* the word is where the prologue puts the return address */
    unsigned targets_left;   /* functions that the search may still look through */
};

enum { CALL_TARGETS_MAX = 32 }; /* of a search */

/* How likely a word is the return address of the callee. */
enum caller_evidence call_target_judge(struct call_target *target, uint64_t word);

/* Without room for more work, evidence is not kept. */
static inline bool call_target_may_look(struct call_target *target, size_t bytes)
{
    bool may = caller_cache_may_look(target->map->cache, bytes);
    if (!may)
        target->targets_left = 0;
    return may;
}

/* Of the callee, for a PC or a return address. */
struct caller_cache_key call_target_key(const struct call_target *target, uint64_t avma);

/* Whether the code from start_svma on runs into end_svma: hand-written functions have a second
 * entry behind their first instructions. */
bool call_target_runs_into(struct call_target *target, const struct code_image *image,
                           uint64_t start_svma, uint64_t end_svma);

/* Whether the code at svma returns from a signal handler. */
bool code_place_is_sigreturn(const struct code_place *place, uint64_t svma);

/* Whether svma is a return address: of a call, or of a signal handler. */
bool code_place_is_returned_to(const struct code_place *place, uint64_t svma);
