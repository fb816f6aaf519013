/* SPDX-License-Identifier: MIT */
#include "unwind/generated/tagged_stack.h"

enum {
    TAG_BITS = 3,
    TERMS_MAX = 1024, /* of a frame: Y registers (getYRef(), beam_asm.hpp) */
    JUMPS_MAX = 8,    /* inside of a function, up to the end */
};

/* A word as the return address of the callee. */
static struct caller judge(const struct code_map *map, const struct stack_frame *callee,
                           uint64_t slot_avma, uint64_t word)
{
    struct caller caller = {.evidence = CALLER_NONE, .frame = *callee};
    bool is_behind_call;
    if (word == 0 || (word & TAG_BITS) != 0 ||
        !map->generated->find_call(map->generated_context, word, &is_behind_call))
        return caller;
    caller.evidence = is_behind_call ? CALLER_PLAUSIBLE : CALLER_IS_ROOT;
    if (is_behind_call)
        caller.frame = (struct stack_frame){
            .regs = {.pc = word, .sp = slot_avma + sizeof(word), .fp = callee->regs.fp},
            .is_return_address = true};
    return caller;
}

/* All terms of the frame are written: the first other word is the return address. */
static struct caller behind_terms(const struct code_map *map, const struct stack_frame *callee,
                                  const struct stack_view *stack)
{
    uint64_t at = callee->regs.sp, word = 0;
    for (int terms = 0; terms < TERMS_MAX; terms++, at += sizeof(word)) {
        if (!stack_load(stack, at, &word))
            return (struct caller){.evidence = CALLER_BEYOND};
        if ((word & TAG_BITS) == 0)
            return judge(map, callee, at, word);
    }
    return (struct caller){.evidence = CALLER_NONE};
}

/* The end of the function may be behind jumps inside of it: no return address is at SP then. */
static struct caller at_place_by_code(const struct code_map *map, const struct stack_frame *callee,
                                      const struct stack_view *stack)
{
    uint64_t pc = callee->regs.pc, at = callee->regs.sp, word;
    struct code_leave leave;
    for (int jumps = 0; jumps < JUMPS_MAX && pc != 0; jumps++) {
        if (!map->generated->find_leave(map->generated_context, pc, &leave))
            break;
        at += leave.return_bytes;
        if (!stack_load(stack, at, &word))
            return (struct caller){.evidence = CALLER_BEYOND};
        const struct caller caller = judge(map, callee, at, word);
        if (caller.evidence != CALLER_NONE)
            return caller;
        pc = leave.kind == LEAVE_JUMPS ? leave.target_svma : 0;
    }
    return (struct caller){.evidence = CALLER_NONE};
}

struct caller tagged_stack_caller(const struct code_map *map, const struct stack_frame *callee,
                                  const struct stack_view *stack)
{
    const uint64_t lookup_pc = unwind_lookup_pc(callee->regs.pc, callee->is_return_address);
    struct code_place place;
    struct code_entry entry;
    if (!map->generated || !map->is_made_stack || callee->regs.sp % sizeof(uint64_t) != 0 ||
        !map->find(map->context, lookup_pc, &place) || place.image ||
        !map->generated->find_entry(map->generated_context, lookup_pc, &entry))
        return (struct caller){.evidence = CALLER_NONE};
    return callee->is_return_address ? behind_terms(map, callee, stack)
                                     : at_place_by_code(map, callee, stack);
}
