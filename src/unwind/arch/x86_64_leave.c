/* SPDX-License-Identifier: MIT */
#include "unwind/arch/x86_64_frame.h"
#include "unwind/arch/x86_64_instruction.h"

/* SP on the way. */
struct way {
    int64_t bytes;
    bool is_away; /* SP is on another stack */
    bool is_lost;
};

/* mov %rbp, %rsp; mov n(%r13), %rsp: back to the stack before. Without a stack to return to, SP is
 * lost. */
static void load_sp(struct way *way)
{
    way->is_lost |= !way->is_away;
    way->is_away = false;
}

/* lea n(%rsp), %rsp moves SP; lea n(%rbx), %rsp leads to another stack. */
static void load_address(struct way *way, const struct instruction *in)
{
    enum { SIB_OF_SP = 0x24 };
    const unsigned mod = in->modrm[0] >> 6;
    const bool has_sib = mod != 3 && (in->modrm[0] & 7) == SP;
    const bool is_by_sp = has_sib && in->modrm[1] == SIB_OF_SP;
    if (!is_by_sp)
        way->is_away = true;
    else if (mod == 1 || mod == 2)
        way->bytes += way->is_away ? 0 : x86_64_immediate(in, mod == 1);
}

/* add $n, %rsp and sub $n, %rsp. */
static void add_immediate(struct way *way, const struct instruction *in)
{
    const int64_t bytes = x86_64_immediate(in, in->opcode == 0x83);
    if (way->is_away || x86_64_rm(in) != SP || !x86_64_rm_is_register(in))
        return;
    switch (*in->modrm >> 3 & 7) {
    case 0:
        way->bytes += bytes;
        break;
    case 5:
        way->bytes -= bytes;
        break;
    case 7: /* cmp */
        break;
    default:
        way->is_lost = true;
    }
}

static void step(struct way *way, const struct instruction *in)
{
    if (!in->is_plain)
        return;
    const bool is_wide = in->rex & REX_W;
    if ((in->opcode & 0xf8) == 0x50 || in->opcode == 0x68 || in->opcode == 0x6a)
        way->bytes -= way->is_away ? 0 : 8;
    else if ((in->opcode & 0xf8) == 0x58)
        way->bytes += way->is_away ? 0 : 8;
    else if ((in->opcode == 0x81 || in->opcode == 0x83) && is_wide)
        add_immediate(way, in);
    else if (in->opcode == 0x8d && is_wide && x86_64_reg(in) == SP)
        load_address(way, in);
    else if (in->opcode == 0x8b && is_wide && x86_64_reg(in) == SP)
        load_sp(way);
    else if (in->opcode == 0x89 && is_wide && x86_64_rm_is_register(in) && x86_64_rm(in) == SP)
        load_sp(way);
    else
        way->is_lost |= in->opcode == 0xc9 || in->opcode == 0xf4; /* leave, hlt */
}

/* ret, jmp to a fixed address, and jmp through a register or memory. */
static bool find_end(const struct instruction *in, uint64_t end_svma, struct code_leave *leave)
{
    if (!in->is_plain)
        return false;
    const bool is_near = in->opcode == 0xe9, is_short = in->opcode == 0xeb;
    if (in->opcode == 0xc3) {
        leave->kind = LEAVE_RETURNS;
    } else if (is_near || is_short) {
        leave->kind = LEAVE_JUMPS;
        leave->target_svma = end_svma + (uint64_t)x86_64_immediate(in, is_short);
    } else if (in->opcode == 0xff && (*in->modrm >> 3 & 7) == 4) {
        leave->kind = LEAVE_JUMPS;
    }
    return leave->kind != LEAVE_UNKNOWN;
}

/* mov %rsp, %rbp and lea n(%rsp), %rbp. *fp_bytes: from SP up to the new FP. */
static bool sets_fp(const struct instruction *in, int64_t *fp_bytes)
{
    *fp_bytes = 0;
    if (!in->is_plain || !(in->rex & REX_W))
        return false;
    if (in->opcode == 0x89)
        return x86_64_rm_is_register(in) && x86_64_rm(in) == RBP && x86_64_reg(in) == SP;
    if (in->opcode == 0x8b)
        return x86_64_rm_is_register(in) && x86_64_reg(in) == RBP && x86_64_rm(in) == SP;
    return in->opcode == 0x8d && x86_64_reg(in) == RBP && x86_64_is_above(in, SP, fp_bytes);
}

/* Behind these, FP may be another: pop %rbp, leave, other writes of FP, calls, jumps, halts. */
static bool may_change_fp(const struct instruction *in)
{
    const uint8_t opcode = in->opcode;
    if (!in->is_plain)
        return in->second == 0x0b || in->second == 0x05; /* ud2, syscall */
    if (opcode == 0x58 + RBP)
        return !(in->rex & REX_B);
    if (opcode == 0x8b || opcode == 0x8d)
        return x86_64_reg(in) == RBP;
    if (opcode == 0x89)
        return x86_64_rm_is_register(in) && x86_64_rm(in) == RBP;
    return opcode == 0xc9 || opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb || opcode == 0xf4 ||
           opcode == 0xcc || opcode == 0xff;
}

/* mov %rbx, %rsp: HotSpot's interpreter has popped FP and then the return address, and drops the
 * callee's arguments before the jump to the caller. */
static bool drops_arguments(const struct instruction *in)
{
    const bool is_wide = in->is_plain && (in->rex & REX_W);
    if (!is_wide || (in->opcode != 0x89 && in->opcode != 0x8b) || !x86_64_rm_is_register(in))
        return false;
    const unsigned to = in->opcode == 0x89 ? x86_64_rm(in) : x86_64_reg(in);
    const unsigned from = in->opcode == 0x89 ? x86_64_reg(in) : x86_64_rm(in);
    return to == SP && from != RBP;
}

bool x86_64_has_callers_fp(const uint8_t *bytes, size_t size, uint64_t *return_bytes)
{
    struct way way = {0};
    int64_t fp_bytes;
    for (size_t at = 0; at < size && !way.is_lost && !way.is_away;) {
        const struct instruction in = x86_64_decode(bytes + at, size - at);
        const bool returns = in.is_plain && (in.opcode == 0xc3 || in.opcode == 0xc2);
        if (in.bytes == 0)
            break;
        if (returns || sets_fp(&in, &fp_bytes)) {
            const int64_t to_return = way.bytes + (returns ? 0 : fp_bytes + 8);
            *return_bytes = (uint64_t)to_return;
            return to_return >= 0;
        }
        *return_bytes = CODE_NOT_ON_STACK;
        if (drops_arguments(&in))
            return true;
        if (may_change_fp(&in))
            break;
        step(&way, &in);
        at += in.bytes;
    }
    return false;
}

struct code_leave x86_64_leave(const uint8_t *bytes, size_t size, uint64_t svma)
{
    struct code_leave leave = {.kind = LEAVE_UNKNOWN};
    struct way way = {0};
    for (size_t at = 0; at < size && !way.is_lost;) {
        const struct instruction in = x86_64_decode(bytes + at, size - at);
        const bool is_trap = !in.is_plain && in.second == 0x0b; /* ud2 */
        if (in.bytes == 0 || is_trap)
            break;
        at += in.bytes;
        if (!find_end(&in, svma + at, &leave)) {
            step(&way, &in);
            continue;
        }
        if (way.bytes < 0 || way.is_away)
            break;
        leave.return_bytes = (uint64_t)way.bytes;
        return leave;
    }
    return (struct code_leave){.kind = LEAVE_UNKNOWN};
}
