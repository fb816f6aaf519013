/* SPDX-License-Identifier: MIT */
/*
 * A step by full CFI. Slower than a row by two orders of magnitude: the FDE's instructions run
 * again for most steps.
 */
#include "unwind/module.h"

#include "unwind/cfi/expression.h"
#include "unwind/module_internal.h"

static bool is_known(const struct full_regs *regs, uint64_t reg)
{
    return reg < UNWIND_DWARF_REGS && (regs->known >> reg & 1);
}

static bool find_cfa(const struct cfi_cfa *cfa, const struct frame_state *frame, uint64_t *avma)
{
    const struct full_regs *regs = frame->regs;
    if (cfa->expression)
        return expression_evaluate(cfa->expression, cfa->expression_bytes, frame, NULL, avma);
    if (!is_known(regs, cfa->reg))
        return false;
    *avma = regs->value[cfa->reg] + (uint64_t)cfa->offset;
    return true;
}

/*
 * In epilogues, CFI does not state that a register was popped: its place is below SP then, where
 * captures have no bytes. The register has the value already.
 */
static bool was_popped(uint32_t reg, uint64_t avma, const struct full_regs *regs, uint64_t *value)
{
    if (!is_known(regs, reg) || avma >= regs->value[UNWIND_DWARF_SP])
        return false;
    *value = regs->value[reg];
    return reg != UNWIND_DWARF_PC;
}

/* The caller's value of register reg; false: unknown. */
static bool find_value(const struct cfi_rule *rule, uint32_t reg, uint64_t cfa,
                       const struct frame_state *frame, uint64_t *value)
{
    const struct full_regs *regs = frame->regs;
    const struct stack_view *stack = frame->stack;
    uint64_t avma;
    switch ((enum cfi_rule_kind)rule->kind) {
    case CFI_UNDEFINED:
        return false;
    case CFI_UNSPECIFIED:
        /* By the ABI, a callee may overwrite some registers. But where CFI needs a register, the
         * callees preserve the register: OpenSSL's ciphers keep the old SP in rax across calls. */
        *value = reg == UNWIND_DWARF_SP ? cfa : regs->value[reg];
        return reg == UNWIND_DWARF_SP || (is_known(regs, reg) && !(regs->transient >> reg & 1));
    case CFI_SAME:
        *value = regs->value[reg];
        return is_known(regs, reg);
    case CFI_OFFSET:
        return stack_load(stack, cfa + (uint64_t)rule->value, value) ||
               was_popped(reg, cfa + (uint64_t)rule->value, regs, value);
    case CFI_VAL_OFFSET:
        *value = cfa + (uint64_t)rule->value;
        return true;
    case CFI_REGISTER:
        if (!is_known(regs, (uint64_t)rule->value))
            return false;
        *value = regs->value[rule->value];
        return true;
    case CFI_EXPRESSION:
        return expression_evaluate(rule->expression, rule->bytes, frame, &cfa, &avma) &&
               stack_load(stack, avma, value);
    case CFI_VAL_EXPRESSION:
        return expression_evaluate(rule->expression, rule->bytes, frame, &cfa, value);
    }
    return false;
}

/* The register with the return address; UNWIND_DWARF_REGS: on the stack. */
static uint32_t return_in_register(uint8_t return_register, const struct cfi_rule *return_rule)
{
    bool has_link_register = return_register != UNWIND_DWARF_PC;
    if (return_rule->kind == CFI_REGISTER && (uint64_t)return_rule->value < UNWIND_DWARF_REGS)
        return (uint32_t)return_rule->value;
    if (has_link_register &&
        (return_rule->kind == CFI_UNSPECIFIED || return_rule->kind == CFI_SAME))
        return return_register;
    return UNWIND_DWARF_REGS;
}

/* SP grows by the return address at least. SP may stay if the return address is in a register: in
 * vfork(), out of the child's reach, and in a link register until saved. The register is unknown in
 * the next step, so the walk cannot loop. */
static bool sp_is_plausible(uint64_t before, uint64_t after, bool is_signal_frame,
                            bool is_in_register)
{
    if (is_signal_frame)
        return true; /* the handler may have run on another stack */
    return after > before || (after == before && is_in_register);
}

/* All rules refer to the callee's registers, so the caller's are collected apart; on failure, regs
 * is unchanged. The caller's PC has the rule of the return address column: on aarch64, of lr. */
static enum unwind_result apply_row(const struct full_row *full, struct full_regs *regs,
                                    const struct stack_view *stack,
                                    const struct unwind_machine *machine)
{
    const struct cfi_row *row = &full->row;
    uint32_t operations_left = EXPRESSION_OPERATIONS_MAX;
    const struct frame_state frame = {regs, stack, machine, &operations_left};
    const struct cfi_rule *return_rule = &row->regs[full->return_register];
    if (return_rule->kind == CFI_UNDEFINED)
        return UNWIND_END;
    uint64_t cfa;
    if (!is_known(regs, UNWIND_DWARF_SP) || !find_cfa(&row->cfa, &frame, &cfa))
        return UNWIND_COMPLEX;
    struct full_regs caller = {0};
    for (uint32_t reg = 0; reg < UNWIND_DWARF_REGS; reg++) {
        uint32_t column = reg == UNWIND_DWARF_PC ? full->return_register : reg;
        if (find_value(&row->regs[column], column, cfa, &frame, &caller.value[reg]))
            caller.known |= 1u << reg;
    }
    /* Only the captured bytes can lack a saved return address. */
    if (!is_known(&caller, UNWIND_DWARF_PC))
        return return_rule->kind == CFI_OFFSET ? UNWIND_OFF_STACK : UNWIND_COMPLEX;
    if (!is_known(&caller, UNWIND_DWARF_SP))
        return UNWIND_COMPLEX;
    uint32_t in = return_in_register(full->return_register, return_rule);
    if (!sp_is_plausible(regs->value[UNWIND_DWARF_SP], caller.value[UNWIND_DWARF_SP],
                         full->is_signal_frame, in < UNWIND_DWARF_REGS))
        return UNWIND_OFF_STACK;
    if (in < UNWIND_DWARF_REGS)
        caller.known &= ~(1u << in);
    *regs = caller;
    return UNWIND_OK;
}

enum unwind_result unwind_module_step(const struct unwind_module *module, uint64_t lookup_svma,
                                      struct full_regs *regs, const struct stack_view *stack,
                                      bool *is_signal_frame)
{
    *is_signal_frame = false;
    const struct cfi_index *index = &module->index;
    uint64_t relative = lookup_svma - index->base_svma;
    if (lookup_svma < index->base_svma || relative >= index->size)
        return UNWIND_NO_ROW;
    struct lazy_rules *lazy = unwind_module_rules(module, (uint32_t)relative);
    const struct full_row *row =
        lazy ? full_rows_find(module->full_rows, lazy, index->base_svma, (uint32_t)relative) : NULL;
    if (!row)
        return UNWIND_NO_ROW;
    *is_signal_frame = row->is_signal_frame;
    return apply_row(row, regs, stack, module->bytes.machine);
}

uint64_t unwind_module_refused_steps(const struct unwind_module *module)
{
    return full_rows_refused(module->full_rows);
}
