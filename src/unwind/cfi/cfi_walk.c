/* SPDX-License-Identifier: MIT */
/*
 * The interpreter of CFI instructions. Instructions change the current row; an instruction that
 * advances the address ends the row's range. Opcodes: DWARF 5, section 7.24; meaning: 6.4.2.
 *
 *     instructions   CIE: def_cfa, offset … │ FDE: … advance … advance …
 *     initial        after the CIE's, for restore
 *     row                                   │ row 1 ─▶│ row 2 ─▶│ row 3, up to the end of the FDE
 *     memory         a stack of rows: remember_state, restore_state
 *
 * A failure ends the rows: a row of a damaged record would be a wrong caller.
 */
#include "unwind/cfi/cfi.h"

#include "unwind/arch/machine.h"

#include <string.h>

enum {
    /* With an operand in the low six bits. */
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_PRIMARY_MASK = 0xc0,

    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_MIPS_ADVANCE_LOC8 = 0x1d,
    CFA_AARCH64_NEGATE_RA_STATE = 0x2d, /* has another meaning on other machines */
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f, /* obsolete: CFA_OFFSET_EXTENDED_SF */
};

/* Both: the cursor's flag ends reads, the walk's flag ends the rows. */
static void fail(struct cfi_walk *walk)
{
    walk->failed = true;
    walk->code.failed = true;
}

static uint64_t followed(const struct cfi_walk *walk, uint64_t dwarf_number)
{
    return unwind_machine_register(walk->section->machine, dwarf_number);
}

static uint64_t read_register(struct cfi_walk *walk)
{
    return followed(walk, cursor_uleb128(&walk->code));
}

static bool is_foreign(const struct cfi_walk *walk)
{
    return walk->section->machine && walk->section->machine->registers;
}

static void set_rule(struct cfi_walk *walk, uint64_t reg, enum cfi_rule_kind kind, int64_t value)
{
    if (reg < UNWIND_DWARF_REGS)
        walk->row.regs[reg] = (struct cfi_rule){.kind = kind, .value = value};
}

/* To the rule at the end of the CIE's instructions. */
static void restore_rule(struct cfi_walk *walk, uint64_t reg)
{
    if (reg < UNWIND_DWARF_REGS)
        walk->row.regs[reg] = walk->initial.regs[reg];
}

/* Offsets are in units of the CIE; an overflow is beyond any stack. */
static int64_t scaled(struct cfi_walk *walk, int64_t factor)
{
    int64_t offset;
    if (__builtin_mul_overflow(factor, walk->cie->data_align, &offset))
        fail(walk);
    return walk->failed ? 0 : offset;
}

static int64_t scaled_uleb128(struct cfi_walk *walk)
{
    uint64_t factor = cursor_uleb128(&walk->code);
    if (factor > INT64_MAX)
        fail(walk);
    return scaled(walk, (int64_t)factor);
}

static int64_t unscaled_uleb128(struct cfi_walk *walk)
{
    uint64_t offset = cursor_uleb128(&walk->code);
    if (offset > INT64_MAX)
        fail(walk);
    return (int64_t)offset;
}

/* The block in place. CIEs and FDEs are smaller than 4 GiB, so the size fits. */
static const uint8_t *read_expression(struct cfi_walk *walk, uint32_t *bytes)
{
    uint64_t size = cursor_uleb128(&walk->code);
    const uint8_t *expression = cursor_bytes(&walk->code, size);
    *bytes = expression ? (uint32_t)size : 0;
    return expression;
}

static void set_expression(struct cfi_walk *walk, enum cfi_rule_kind kind)
{
    uint64_t reg = read_register(walk);
    struct cfi_rule rule = {.kind = kind};
    rule.expression = read_expression(walk, &rule.bytes);
    if (reg < UNWIND_DWARF_REGS)
        walk->row.regs[reg] = rule;
}

static void set_cfa(struct cfi_walk *walk, uint64_t reg, int64_t offset)
{
    /* Registers that are not followed stay unknown: kept as a number out of range. */
    uint32_t kept = reg < UNWIND_DWARF_REGS ? (uint32_t)reg : UNWIND_DWARF_REGS;
    walk->row.cfa = (struct cfi_cfa){.reg = kept, .offset = offset};
}

/* DWARF 5, 6.4.2.2: valid only if the CFA is a register and an offset. */
static void set_cfa_offset(struct cfi_walk *walk, int64_t offset)
{
    if (walk->row.cfa.expression)
        fail(walk);
    walk->row.cfa.offset = offset;
}

static void set_cfa_register(struct cfi_walk *walk, uint64_t reg)
{
    if (walk->row.cfa.expression)
        fail(walk);
    set_cfa(walk, reg, walk->row.cfa.offset);
}

/* With the rule of the CFA: gcc restores both behind an epilogue in the middle of a function. */
static void remember(struct cfi_walk *walk)
{
    if (walk->remembered == CFI_REMEMBERED_MAX)
        fail(walk);
    else
        walk->memory[walk->remembered++] = walk->row;
}

static void recall(struct cfi_walk *walk)
{
    if (walk->remembered == 0)
        fail(walk);
    else
        walk->row = walk->memory[--walk->remembered];
}

static void advance_to(struct cfi_walk *walk, uint64_t svma)
{
    if (svma < walk->next_svma)
        fail(walk);
    walk->next_svma = svma;
}

static void advance(struct cfi_walk *walk, uint64_t factor)
{
    uint64_t distance, svma;
    if (__builtin_mul_overflow(factor, walk->cie->code_align, &distance) ||
        __builtin_add_overflow(walk->next_svma, distance, &svma))
        fail(walk);
    else
        walk->next_svma = svma;
}

/* Instructions without an operand in the opcode. */
/* DWARF 5, 6.4.2.1: to the next row. False: another instruction. */
static bool execute_location(struct cfi_walk *walk, uint8_t opcode)
{
    struct cursor *c = &walk->code;
    switch (opcode) {
    case CFA_SET_LOC:
        advance_to(walk, cfi_read_address(walk->section, c, walk->cie->address_encoding));
        return true;
    case CFA_ADVANCE_LOC1:
        advance(walk, cursor_u8(c));
        return true;
    case CFA_ADVANCE_LOC2:
        advance(walk, cursor_u16(c));
        return true;
    case CFA_ADVANCE_LOC4:
        advance(walk, cursor_u32(c));
        return true;
    case CFA_MIPS_ADVANCE_LOC8:
        advance(walk, cursor_u64(c));
        return true;
    default:
        return false;
    }
}

/* DWARF 5, 6.4.2.2: the rule of the CFA. False: another instruction. */
static bool execute_cfa(struct cfi_walk *walk, uint8_t opcode)
{
    struct cursor *c = &walk->code;
    uint64_t reg;
    switch (opcode) {
    case CFA_DEF_CFA:
        reg = read_register(walk);
        set_cfa(walk, reg, unscaled_uleb128(walk));
        return true;
    case CFA_DEF_CFA_SF:
        reg = read_register(walk);
        set_cfa(walk, reg, scaled(walk, cursor_sleb128(c)));
        return true;
    case CFA_DEF_CFA_REGISTER:
        set_cfa_register(walk, read_register(walk));
        return true;
    case CFA_DEF_CFA_OFFSET:
        set_cfa_offset(walk, unscaled_uleb128(walk));
        return true;
    case CFA_DEF_CFA_OFFSET_SF:
        set_cfa_offset(walk, scaled(walk, cursor_sleb128(c)));
        return true;
    case CFA_DEF_CFA_EXPRESSION:
        walk->row.cfa.expression = read_expression(walk, &walk->row.cfa.expression_bytes);
        return true;
    default:
        return false;
    }
}

/* DWARF 5, 6.4.2.3: the value of a register, relative to the CFA. False: another instruction. */
static bool execute_offset(struct cfi_walk *walk, uint8_t opcode)
{
    struct cursor *c = &walk->code;
    uint64_t reg;
    switch (opcode) {
    case CFA_OFFSET_EXTENDED:
        reg = read_register(walk);
        set_rule(walk, reg, CFI_OFFSET, scaled_uleb128(walk));
        return true;
    case CFA_OFFSET_EXTENDED_SF:
        reg = read_register(walk);
        set_rule(walk, reg, CFI_OFFSET, scaled(walk, cursor_sleb128(c)));
        return true;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        reg = read_register(walk);
        set_rule(walk, reg, CFI_OFFSET, scaled(walk, -unscaled_uleb128(walk)));
        return true;
    case CFA_VAL_OFFSET:
        reg = read_register(walk);
        set_rule(walk, reg, CFI_VAL_OFFSET, scaled_uleb128(walk));
        return true;
    case CFA_VAL_OFFSET_SF:
        reg = read_register(walk);
        set_rule(walk, reg, CFI_VAL_OFFSET, scaled(walk, cursor_sleb128(c)));
        return true;
    default:
        return false;
    }
}

/* DWARF 5, 6.4.2.3: all other rules of registers. False: another instruction. */
static bool execute_rule(struct cfi_walk *walk, uint8_t opcode)
{
    uint64_t reg;
    switch (opcode) {
    case CFA_RESTORE_EXTENDED:
        restore_rule(walk, read_register(walk));
        return true;
    case CFA_UNDEFINED:
        set_rule(walk, read_register(walk), CFI_UNDEFINED, 0);
        return true;
    case CFA_SAME_VALUE:
        set_rule(walk, read_register(walk), CFI_SAME, 0);
        return true;
    case CFA_REGISTER:
        reg = read_register(walk);
        set_rule(walk, reg, CFI_REGISTER, (int64_t)read_register(walk));
        return true;
    case CFA_EXPRESSION:
        set_expression(walk, CFI_EXPRESSION);
        return true;
    case CFA_VAL_EXPRESSION:
        set_expression(walk, CFI_VAL_EXPRESSION);
        return true;
    default:
        return execute_offset(walk, opcode);
    }
}

/* DWARF 5, 6.4.2.4 (states of rows), padding, and extensions. */
static void execute_other(struct cfi_walk *walk, uint8_t opcode)
{
    switch (opcode) {
    case CFA_NOP:
        break;
    case CFA_REMEMBER_STATE:
        remember(walk);
        break;
    case CFA_RESTORE_STATE:
        recall(walk);
        break;
    case CFA_AARCH64_NEGATE_RA_STATE: /* signatures are masked off all return addresses */
        if (!is_foreign(walk))
            fail(walk);
        break;
    case CFA_GNU_ARGS_SIZE: /* how much a landing pad has to pop: CFA and registers stay */
        (void)cursor_uleb128(&walk->code);
        break;
    default:
        fail(walk);
    }
}

static void execute_extended(struct cfi_walk *walk, uint8_t opcode)
{
    if (!execute_cfa(walk, opcode) && !execute_location(walk, opcode) &&
        !execute_rule(walk, opcode))
        execute_other(walk, opcode);
}

static void execute_one(struct cfi_walk *walk)
{
    uint8_t opcode = cursor_u8(&walk->code);
    uint8_t operand = opcode & (uint8_t)~CFA_PRIMARY_MASK;
    switch (opcode & CFA_PRIMARY_MASK) {
    case CFA_ADVANCE_LOC:
        advance(walk, operand);
        break;
    case CFA_OFFSET:
        set_rule(walk, followed(walk, operand), CFI_OFFSET, scaled_uleb128(walk));
        break;
    case CFA_RESTORE:
        restore_rule(walk, followed(walk, operand));
        break;
    default:
        execute_extended(walk, opcode);
    }
    if (walk->code.failed)
        walk->failed = true;
}

void cfi_walk_begin(struct cfi_walk *walk, const struct cfi_section *section,
                    const struct cfi_cie *cie, const struct cfi_fde *fde)
{
    walk->section = section;
    walk->cie = cie;
    walk->failed = false;
    walk->remembered = 0;
    walk->next_svma = fde->start_svma;
    walk->fde_end_svma = fde->end_svma;
    memset(&walk->initial, 0, sizeof(walk->initial));
    walk->initial.cfa.reg = UNWIND_DWARF_REGS;
    walk->row = walk->initial;
    walk->code = cie->code;
    while (!walk->failed && cursor_left(&walk->code))
        execute_one(walk);
    if (walk->next_svma != fde->start_svma)
        fail(walk); /* a CIE has no addresses to advance over */
    walk->initial = walk->row;
    walk->code = fde->code;
}

bool cfi_walk_next(struct cfi_walk *walk)
{
    walk->start_svma = walk->next_svma;
    while (!walk->failed && walk->next_svma == walk->start_svma && cursor_left(&walk->code))
        execute_one(walk);
    if (walk->failed || walk->start_svma >= walk->fde_end_svma)
        return false;
    /* The last row extends to the end; code behind belongs to another function. */
    bool is_last = walk->next_svma == walk->start_svma || walk->next_svma > walk->fde_end_svma;
    if (is_last)
        walk->next_svma = walk->fde_end_svma;
    walk->end_svma = walk->next_svma;
    return true;
}
