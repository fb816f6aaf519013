/* SPDX-License-Identifier: MIT */
#include "unwind/offline_fp.h"

static bool is_mapped(const struct offline_map *map, uint64_t return_pc)
{
    struct offline_mapping mapping;
    return map->find(map->context, unwind_lookup_pc(return_pc, true), &mapping);
}

/* Derives an unknown FP from the CFA: CFA = FP + 8n by the rule, and the CFA is the SP of the
 * caller found by the caller search. */
static bool infer_plain_fp(const struct offline_map *map, const struct stack_view *stack,
                           uint32_t rule, struct stack_frame *frame)
{
    struct caller caller = caller_search_of_fde(map->code, frame, stack);
    if (caller.evidence != CALLER_PLAUSIBLE && caller.evidence != CALLER_VERIFIED)
        return false;
    frame->regs.fp = caller.frame.regs.sp - 8 * (uint64_t)row_n(rule);
    return true;
}

/* Frames that realign SP push the return address a second time, above the saved FP, and keep the
 * CFA at a fixed distance from FP:
 *
 *     FP + 8n: CFA - 8m │ … │ FP: caller's FP │ return address │ padding │ return address │ CFA
 */
static bool infer_realigned_fp(const struct offline_map *map, const struct stack_view *stack,
                               uint32_t rule, struct stack_frame *frame)
{
    uint64_t n = 8 * (uint64_t)row_deref_n(rule), m = 8 * (uint64_t)row_deref_m(rule);
    uint64_t start_avma = (frame->regs.sp + 7) & ~UINT64_C(7);
    for (uint64_t at = 0; at < SEARCH_BYTES_MAX && caller_cache_may_look(map->code->cache, 8);
         at += 8) {
        uint64_t fp = start_avma + at, copy, cfa, word;
        if (!stack_load(stack, fp + 8, &copy) || !stack_load(stack, fp + n, &cfa))
            continue;
        cfa += m;
        if (cfa <= fp + 16 || !stack_load(stack, cfa - 8, &word) || word != copy ||
            !is_mapped(map, copy))
            continue;
        frame->regs.fp = fp;
        return true;
    }
    return false;
}

bool offline_infer_fp(const struct offline_map *map, const struct stack_view *stack, uint32_t rule,
                      struct stack_frame *frame)
{
    if (row_kind(rule) == ROW_FP)
        return infer_plain_fp(map, stack, rule, frame);
    return row_kind(rule) == ROW_FP_DEREF && infer_realigned_fp(map, stack, rule, frame);
}
