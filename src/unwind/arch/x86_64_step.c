/* SPDX-License-Identifier: MIT */
/*
 * Application of rules on x86-64. A call pushes the return address, which therefore lies right
 * below the CFA:
 *
 *     CFA - 16, -24, …   callee-saved registers, FP among them, pushed by the prologue
 *     CFA - 8            return address
 *     CFA                the caller's SP after the return
 */
#include "unwind/step.h"

/* Offsets in the ucontext of the kernel's signal frame. SP points to the ucontext in the C
 * library's restorer, the return address of handlers. */
enum {
    UCONTEXT_FP = 120, /* uc_mcontext.gregs[REG_RBP] */
    UCONTEXT_SP = 160, /* uc_mcontext.gregs[REG_RSP] */
    UCONTEXT_PC = 168, /* uc_mcontext.gregs[REG_RIP] */
};

/* The lazy PLT pushes an index, then the GOT entry: only the last instructions of each 16-byte
 * entry run with an additional word on the stack. */
static uint64_t plt_cfa(uint32_t rule, const struct unwind_regs *regs)
{
    return regs->sp + 8 + ((regs->pc & 15) >= row_n(rule) ? 8 : 0);
}

static bool deref_cfa(uint64_t base, uint32_t rule, const struct stack_view *stack, uint64_t *cfa)
{
    if (!stack_load(stack, base + 8 * (uint64_t)row_deref_n(rule), cfa))
        return false;
    *cfa += 8 * (uint64_t)row_deref_m(rule);
    return true;
}

static enum unwind_result apply_cfa(uint32_t rule, uint64_t cfa, struct unwind_regs *regs,
                                    const struct stack_view *stack)
{
    uint32_t k = row_fp(rule);
    uint64_t pc, fp = regs->fp, fp_avma = k == ROW_FP_AT_FP ? fp : cfa - 8 * (uint64_t)k;
    if (cfa <= regs->sp || !stack_load(stack, cfa - 8, &pc) ||
        (k != ROW_FP_SAME && !stack_load(stack, fp_avma, &fp)))
        return UNWIND_OFF_STACK;
    *regs = (struct unwind_regs){.pc = pc, .sp = cfa, .fp = fp};
    return UNWIND_OK;
}

static enum unwind_result apply_signal(struct unwind_regs *regs, const struct stack_view *stack)
{
    struct unwind_regs caller;
    if (!stack_load(stack, regs->sp + UCONTEXT_PC, &caller.pc) ||
        !stack_load(stack, regs->sp + UCONTEXT_SP, &caller.sp) ||
        !stack_load(stack, regs->sp + UCONTEXT_FP, &caller.fp))
        return UNWIND_OFF_STACK;
    *regs = caller;
    return UNWIND_OK;
}

enum unwind_result unwind_apply(uint32_t rule, struct unwind_regs *regs,
                                const struct stack_view *stack)
{
    uint64_t cfa;
    switch (row_kind(rule)) {
    case ROW_SP:
        return apply_cfa(rule, regs->sp + 8 * (uint64_t)row_n(rule), regs, stack);
    case ROW_FP:
        return apply_cfa(rule, regs->fp + 8 * (uint64_t)row_n(rule), regs, stack);
    case ROW_SP_DEREF:
        return deref_cfa(regs->sp, rule, stack, &cfa) ? apply_cfa(rule, cfa, regs, stack)
                                                      : UNWIND_OFF_STACK;
    case ROW_FP_DEREF:
        return deref_cfa(regs->fp, rule, stack, &cfa) ? apply_cfa(rule, cfa, regs, stack)
                                                      : UNWIND_OFF_STACK;
    case ROW_PLT:
        return apply_cfa(rule, plt_cfa(rule, regs), regs, stack);
    case ROW_SIGNAL:
        return apply_signal(regs, stack);
    case ROW_END:
        return UNWIND_END;
    case ROW_COMPLEX:
    case ROW_REGISTER:
    case ROW_CLONE:
        return UNWIND_COMPLEX;
    case ROW_NONE:
    case ROW_SEARCH:
        break;
    }
    return UNWIND_NO_ROW;
}

enum unwind_result unwind_apply_register(uint32_t rule, uint64_t value, struct unwind_regs *regs,
                                         const struct stack_view *stack)
{
    bool is_clone = row_kind(rule) == ROW_CLONE;
    if (is_clone && value == 0)
        return UNWIND_END;
    uint64_t base = is_clone ? regs->sp : value;
    return apply_cfa(rule, base + 8 * (uint64_t)row_register_n(rule), regs, stack);
}

enum unwind_result unwind_frame_pointer(struct unwind_regs *regs, const struct stack_view *stack)
{
    struct unwind_regs caller = {.sp = regs->fp + 16};
    if (regs->fp % 8 != 0 || regs->fp < regs->sp || !stack_load(stack, regs->fp, &caller.fp) ||
        !stack_load(stack, regs->fp + 8, &caller.pc))
        return UNWIND_OFF_STACK;
    *regs = caller;
    return UNWIND_OK;
}
