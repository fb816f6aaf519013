/* SPDX-License-Identifier: MIT */
#include "unwind/generated/outside_frame.h"

/* Without the code: whether a return address may be where the entry or the end would have it. */
static bool may_be_outside(const struct code_map *map, const struct unwind_regs *regs,
                           const struct stack_view *stack)
{
    struct code_place place;
    bool may_be = false;
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t at = regs->sp + 8 * i, word;
        may_be |= at != regs->fp + 8 && stack_load(stack, at, &word) &&
                  map->find(map->context, word - 1, &place);
    }
    return may_be;
}

static struct caller caller_at(const struct code_map *map, const struct stack_frame *callee,
                               const struct stack_view *stack, uint64_t at)
{
    struct caller caller = {.evidence = CALLER_BEYOND, .frame = *callee};
    uint64_t word;
    if (!stack_load(stack, at, &word) ||
        !map->generated->is_returned_to(map->generated_context, word))
        return caller;
    caller.evidence = CALLER_PLAUSIBLE;
    caller.frame =
        (struct stack_frame){.regs = {.pc = word, .sp = at + sizeof(word), .fp = callee->regs.fp},
                             .is_return_address = true,
                             .fp_is_known = callee->fp_is_known};
    return caller;
}

struct caller outside_frame_caller(const struct code_map *map, const struct stack_frame *callee,
                                   const struct stack_view *stack)
{
    struct caller caller = {.evidence = CALLER_NONE};
    struct code_place place;
    uint64_t return_bytes;
    if (!map->generated || callee->is_return_address || callee->regs.sp % sizeof(uint64_t) != 0 ||
        !map->find(map->context, callee->regs.pc, &place) || place.image)
        return caller;
    switch (map->generated->find_fp(map->generated_context, callee->regs.pc, &return_bytes)) {
    case CODE_FP_SET:
        return caller;
    case CODE_FP_FREE:
        return caller_at(map, callee, stack, callee->regs.sp + return_bytes);
    case CODE_FP_UNKNOWN:
        break;
    }
    if (may_be_outside(map, &callee->regs, stack))
        caller.evidence = CALLER_BEYOND;
    return caller;
}
