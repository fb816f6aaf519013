/* SPDX-License-Identifier: MIT */
/*
 * Maps CFI rows of x86-64 to rules. Four forms of CFA expressions are frequent enough for a rule:
 *
 *     CFA = breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus     the linker's PLT
 *     CFA = breg6 N; deref            functions that realign the stack keep the old SP in a local
 *     CFA = breg7 N; deref; plus_uconst M      the same by hand: cryptographic assembly code
 *     CFA = breg7 160; deref, in a signal frame                  the C library's restorer
 *
 * and a single form for the saved FP: `breg6 0`, in functions that realign the stack.
 */
#include "unwind/arch/arch.h"

#include <string.h>

enum {
    OP_DEREF = 0x06,
    OP_PLUS_UCONST = 0x23,
    OP_LIT0 = 0x30,
    OP_BREG_FP = 0x70 + UNWIND_DWARF_FP,
    OP_BREG_SP = 0x70 + UNWIND_DWARF_SP,

    SIGNAL_SP_OFFSET = 160, /* of the interrupted SP in the ucontext */
    RESULT_REGISTER = 0,    /* rax: of a system call */
};

static const uint32_t complex_rule = ROW_COMPLEX;

static bool saved_fp(const struct cfi_rule *rule, uint32_t *fp)
{
    static const uint8_t at_fp[] = {OP_BREG_FP, 0};
    switch (rule->kind) {
    case CFI_UNSPECIFIED:
    case CFI_SAME:
        *fp = ROW_FP_SAME;
        return true;
    case CFI_OFFSET:
        *fp = (uint32_t)(-rule->value / 8);
        return rule->value < 0 && rule->value % 8 == 0 && rule->value > -8 * ROW_FP_AT_FP;
    case CFI_EXPRESSION:
        *fp = ROW_FP_AT_FP;
        return rule->bytes == sizeof(at_fp) && memcmp(rule->expression, at_fp, sizeof(at_fp)) == 0;
    default:
        return false;
    }
}

/* breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus; N depends on the kind of PLT. */
static bool is_plt(const struct cfi_cfa *cfa, uint32_t *n)
{
    static const uint8_t plt[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, OP_LIT0, 0x2a, 0x33, 0x24, 0x22};
    const size_t lit_at = 6;
    if (cfa->expression_bytes != sizeof(plt) || memcmp(cfa->expression, plt, lit_at) != 0 ||
        memcmp(cfa->expression + lit_at + 1, plt + lit_at + 1, sizeof(plt) - lit_at - 1) != 0)
        return false;
    *n = (uint32_t)cfa->expression[lit_at] - OP_LIT0;
    return *n < 16;
}

/* bregR offset; deref; optionally plus_uconst addend. */
static bool is_deref(const struct cfi_cfa *cfa, uint8_t *base, int64_t *offset, uint64_t *addend)
{
    struct cursor c = cursor_of(cfa->expression, cfa->expression_bytes);
    *base = cursor_u8(&c);
    *offset = cursor_sleb128(&c);
    *addend = 0;
    if (cursor_u8(&c) != OP_DEREF || (*base != OP_BREG_FP && *base != OP_BREG_SP))
        return false;
    if (cursor_left(&c) == 0)
        return true;
    bool plus = cursor_u8(&c) == OP_PLUS_UCONST;
    *addend = cursor_uleb128(&c);
    return plus && !c.failed && cursor_left(&c) == 0;
}

static bool fits_ten_bits(int64_t offset)
{
    return offset % 8 == 0 && offset >= -512 * 8 && offset < 512 * 8;
}

static uint32_t expression_rule(const struct cfi_cie *cie, const struct cfi_row *row)
{
    uint32_t n, fp;
    uint8_t base;
    int64_t offset;
    uint64_t addend;
    bool deref = is_deref(&row->cfa, &base, &offset, &addend);
    if (cie->is_signal_frame)
        return deref && base == OP_BREG_SP && offset == SIGNAL_SP_OFFSET && addend == 0
                   ? row_rule(ROW_SIGNAL, ROW_FP_SAME, 0)
                   : complex_rule;
    const struct cfi_rule *pc = &row->regs[cie->return_register];
    if (pc->kind != CFI_OFFSET || pc->value != -8 || !saved_fp(&row->regs[UNWIND_DWARF_FP], &fp))
        return complex_rule;
    if (is_plt(&row->cfa, &n))
        return row_rule(ROW_PLT, fp, n);
    if (!deref || !fits_ten_bits(offset) || addend >= 512 * 8 || addend % 8 != 0)
        return complex_rule;
    return row_rule_deref(base == OP_BREG_SP ? ROW_SP_DEREF : ROW_FP_DEREF, fp, (int32_t)offset / 8,
                          (int32_t)addend / 8);
}

uint32_t arch_rule(const struct cfi_cie *cie, const struct cfi_row *row)
{
    const struct cfi_rule *pc = &row->regs[cie->return_register];
    const struct cfi_cfa *cfa = &row->cfa;
    uint32_t fp;
    if (pc->kind == CFI_UNDEFINED)
        return row_rule(ROW_END, ROW_FP_SAME, 0);
    if (cfa->expression)
        return expression_rule(cie, row);
    if (cie->is_signal_frame || pc->kind != CFI_OFFSET || pc->value != -8 ||
        !saved_fp(&row->regs[UNWIND_DWARF_FP], &fp))
        return complex_rule;
    if (cfa->offset < 0 || cfa->offset % 8 != 0 || cfa->offset / 8 > ROW_OFFSET_MAX)
        return complex_rule;
    /* gcc 12 omits from the CFI that `leave` restores FP in functions that realign the stack:
     * before `ret`, CFI still has *(FP), with the caller's FP by then. */
    if (cfa->reg == UNWIND_DWARF_SP && fp == ROW_FP_AT_FP)
        fp = ROW_FP_SAME;
    if (cfa->reg == UNWIND_DWARF_SP)
        return row_rule(ROW_SP, fp, (uint32_t)(cfa->offset / 8));
    if (cfa->reg == UNWIND_DWARF_FP)
        return row_rule(ROW_FP, fp, (uint32_t)(cfa->offset / 8));
    if (cfa->reg < UNWIND_DWARF_PC && cfa->offset / 8 <= ROW_REGISTER_OFFSET_MAX)
        return row_rule_register(fp, (uint32_t)cfa->reg, (uint32_t)(cfa->offset / 8));
    return complex_rule;
}

uint32_t arch_clone_rule(uint32_t before)
{
    if (row_kind(before) != ROW_SP || row_n(before) > ROW_REGISTER_OFFSET_MAX)
        return row_rule(ROW_NONE, ROW_FP_SAME, 0);
    return row_rule_clone(row_fp(before), RESULT_REGISTER, row_n(before));
}

struct full_regs arch_full_regs(const struct user_regs_struct *user)
{
    return (struct full_regs){.value = {user->rax, user->rdx, user->rcx, user->rbx, user->rsi,
                                        user->rdi, user->rbp, user->rsp, user->r8, user->r9,
                                        user->r10, user->r11, user->r12, user->r13, user->r14,
                                        user->r15, user->rip},
                              .known = (1u << UNWIND_DWARF_REGS) - 1};
}
