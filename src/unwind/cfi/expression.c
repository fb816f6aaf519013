/* SPDX-License-Identifier: MIT */
#include "unwind/cfi/expression.h"

#include "base/containers/cursor.h"

/* Of the stack; expressions of compilers take less than ten values. */
#define DEPTH_MAX 32

/* DWARF 5, 7.7.1. Meaning: 2.5.1. */
enum {
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0a,
    OP_CONST2S = 0x0b,
    OP_CONST4U = 0x0c,
    OP_CONST4S = 0x0d,
    OP_CONST8U = 0x0e,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ROT = 0x17,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_DIV = 0x1b,
    OP_MINUS = 0x1c,
    OP_MOD = 0x1d,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

struct evaluation {
    struct cursor code; /* failed: the whole evaluation has */
    const struct frame_state *frame;
    uint64_t values[DEPTH_MAX];
    size_t depth;
};

static void push(struct evaluation *m, uint64_t value)
{
    if (m->depth == DEPTH_MAX)
        m->code.failed = true;
    else
        m->values[m->depth++] = value;
}

static uint64_t pop(struct evaluation *m)
{
    if (m->depth == 0) {
        m->code.failed = true;
        return 0;
    }
    return m->values[--m->depth];
}

static void push_pick(struct evaluation *m, size_t from_top)
{
    if (from_top >= m->depth)
        m->code.failed = true;
    else
        push(m, m->values[m->depth - 1 - from_top]);
}

/* DW_OP_breg: the register's value and an offset. An unknown register fails the evaluation. */
static void push_register(struct evaluation *m, uint64_t dwarf_number)
{
    const struct full_regs *regs = m->frame->regs;
    uint64_t offset = (uint64_t)cursor_sleb128(&m->code);
    uint64_t reg = unwind_machine_register(m->frame->machine, dwarf_number);
    if (reg >= UNWIND_DWARF_REGS || !(regs->known >> reg & 1))
        m->code.failed = true;
    else
        push(m, regs->value[reg] + offset);
}

static void dereference(struct evaluation *m, uint8_t bytes)
{
    uint64_t avma = pop(m), word;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        m->code.failed = true;
    else if (!stack_load(m->frame->stack, avma, &word))
        m->code.failed = true;
    else
        push(m, bytes == 8 ? word : word & ((UINT64_C(1) << 8 * bytes) - 1));
}

static void swap(struct evaluation *m)
{
    uint64_t first = pop(m), second = pop(m);
    push(m, first);
    push(m, second);
}

static void rotate(struct evaluation *m)
{
    uint64_t first = pop(m), second = pop(m), third = pop(m);
    push(m, first);
    push(m, third);
    push(m, second);
}

/* The distance counts from behind the operand. */
static void jump(struct evaluation *m, bool taken)
{
    int64_t distance = (int16_t)cursor_u16(&m->code);
    if (taken && !m->code.failed) /* a negative target is huge as unsigned, and fails */
        cursor_seek(&m->code, m->code.at + (uint64_t)distance);
}

static uint64_t divide(struct evaluation *m, int64_t left, int64_t right)
{
    if (right == 0 || (right == -1 && left == INT64_MIN)) {
        m->code.failed = true;
        return 0;
    }
    return (uint64_t)(left / right);
}

static uint64_t modulo(struct evaluation *m, uint64_t left, uint64_t right)
{
    if (right == 0) {
        m->code.failed = true;
        return 0;
    }
    return left % right;
}

static uint64_t shift_right_signed(int64_t value, uint64_t by)
{
    return (uint64_t)(value >> (by < 63 ? by : 63));
}

/* Comparisons are signed (DWARF 5, 2.5.1.5). */
static uint64_t compare(struct evaluation *m, uint8_t op, int64_t left, int64_t right)
{
    switch (op) {
    case OP_EQ:
        return left == right;
    case OP_GE:
        return left >= right;
    case OP_GT:
        return left > right;
    case OP_LE:
        return left <= right;
    case OP_LT:
        return left < right;
    case OP_NE:
        return left != right;
    default: /* addresses, pieces, calls: not allowed in CFI */
        m->code.failed = true;
        return 0;
    }
}

/* Division is signed (DWARF 5, 2.5.1.4); modulo is unsigned, as in libgcc (unwind-dw2.c). */
static uint64_t combine(struct evaluation *m, uint8_t op, uint64_t left, uint64_t right)
{
    switch (op) {
    case OP_AND:
        return left & right;
    case OP_DIV:
        return divide(m, (int64_t)left, (int64_t)right);
    case OP_MINUS:
        return left - right;
    case OP_MOD:
        return modulo(m, left, right);
    case OP_MUL:
        return left * right;
    case OP_OR:
        return left | right;
    case OP_PLUS:
        return left + right;
    case OP_SHL:
        return right < 64 ? left << right : 0;
    case OP_SHR:
        return right < 64 ? left >> right : 0;
    case OP_SHRA:
        return shift_right_signed((int64_t)left, right);
    case OP_XOR:
        return left ^ right;
    default:
        return compare(m, op, (int64_t)left, (int64_t)right);
    }
}

static void execute_binary(struct evaluation *m, uint8_t op)
{
    uint64_t right = pop(m), left = pop(m);
    push(m, combine(m, op, left, right));
}

/* Constants; false for any other operation. */
static bool push_constant(struct evaluation *m, uint8_t op)
{
    struct cursor *c = &m->code;
    switch (op) {
    case OP_CONST1U:
        push(m, cursor_u8(c));
        return true;
    case OP_CONST1S:
        push(m, (uint64_t)(int8_t)cursor_u8(c));
        return true;
    case OP_CONST2U:
        push(m, cursor_u16(c));
        return true;
    case OP_CONST2S:
        push(m, (uint64_t)(int16_t)cursor_u16(c));
        return true;
    case OP_CONST4U:
        push(m, cursor_u32(c));
        return true;
    case OP_CONST4S:
        push(m, (uint64_t)(int32_t)cursor_u32(c));
        return true;
    case OP_CONST8U:
    case OP_CONST8S:
        push(m, cursor_u64(c));
        return true;
    case OP_CONSTU:
        push(m, cursor_uleb128(c));
        return true;
    case OP_CONSTS:
        push(m, (uint64_t)cursor_sleb128(c));
        return true;
    default:
        return false;
    }
}

/* DWARF 5, 2.5.1.3: copies and moves of values on the stack. False: another operation. */
static bool execute_stack(struct evaluation *m, uint8_t op)
{
    switch (op) {
    case OP_DUP:
        push_pick(m, 0);
        return true;
    case OP_OVER:
        push_pick(m, 1);
        return true;
    case OP_PICK:
        push_pick(m, cursor_u8(&m->code));
        return true;
    case OP_DROP:
        (void)pop(m);
        return true;
    case OP_SWAP:
        swap(m);
        return true;
    case OP_ROT:
        rotate(m);
        return true;
    case OP_DEREF:
        dereference(m, 8);
        return true;
    case OP_DEREF_SIZE:
        dereference(m, cursor_u8(&m->code));
        return true;
    default:
        return false;
    }
}

/* DWARF 5, 2.5.1.4: operations with one value. False: another operation. */
static bool execute_unary(struct evaluation *m, uint8_t op)
{
    uint64_t value;
    switch (op) {
    case OP_ABS:
        value = pop(m);
        push(m, (int64_t)value < 0 ? -value : value);
        return true;
    case OP_NEG:
        push(m, -pop(m));
        return true;
    case OP_NOT:
        push(m, ~pop(m));
        return true;
    case OP_PLUS_UCONST:
        value = pop(m);
        push(m, value + cursor_uleb128(&m->code));
        return true;
    default:
        return false;
    }
}

/* DWARF 5, 2.5.1.5, without comparisons. False: another operation. */
static bool execute_flow(struct evaluation *m, uint8_t op)
{
    switch (op) {
    case OP_NOP:
        return true;
    case OP_SKIP:
        jump(m, true);
        return true;
    case OP_BRA:
        jump(m, pop(m) != 0);
        return true;
    default:
        return false;
    }
}

static void execute(struct evaluation *m, uint8_t op)
{
    if (op >= OP_LIT0 && op <= OP_LIT31)
        push(m, (uint64_t)op - OP_LIT0);
    else if (op >= OP_BREG0 && op <= OP_BREG31)
        push_register(m, (uint64_t)op - OP_BREG0);
    else if (op == OP_BREGX)
        push_register(m, cursor_uleb128(&m->code));
    else if (!push_constant(m, op) && !execute_stack(m, op) && !execute_unary(m, op) &&
             !execute_flow(m, op))
        execute_binary(m, op);
}

/* initial: the CFA, first value of expressions for registers (DWARF 5, 6.4.2.3). Backward jumps may
 * loop, so all expressions of a step share the limit of operations. */
bool expression_evaluate(const uint8_t *bytes, size_t size, const struct frame_state *frame,
                         const uint64_t *initial, uint64_t *value)
{
    struct evaluation m = {.code = cursor_of(bytes, size), .frame = frame};
    if (initial)
        push(&m, *initial);
    while (cursor_left(&m.code)) {
        if (*frame->operations_left == 0)
            return false;
        --*frame->operations_left;
        execute(&m, cursor_u8(&m.code));
        if (m.code.failed)
            return false;
    }
    *value = pop(&m);
    return !m.code.failed;
}
