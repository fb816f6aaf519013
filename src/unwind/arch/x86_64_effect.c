/* SPDX-License-Identifier: MIT */
#include "unwind/arch/x86_64_effect.h"

enum {
    DEPTH_MAX = 1 << 20,  /* larger frames are refused */
    FP_DEPTH_MAX = 30000, /* of a frame pointer */
};

static bool grow(struct flow_state *s, int64_t bytes)
{
    if (s->depth == FLOW_BY_FP)
        return true;
    int64_t depth = s->depth + bytes;
    bool keeps_fp = s->fp_word == 0 || depth >= 8 * (s->fp_word - 1);
    s->depth = (int32_t)depth;
    return depth >= 0 && depth <= DEPTH_MAX && depth % 8 == 0 && keeps_fp;
}

/* SP is known by FP alone from now on. */
static bool lose_sp(struct flow_state *s)
{
    s->depth = FLOW_BY_FP;
    return s->fp_depth > 0;
}

static bool set_depth(struct flow_state *s, int64_t depth)
{
    s->depth = 0;
    return grow(s, depth);
}

static bool save_fp(struct flow_state *s, int64_t depth)
{
    if (s->fp_word || depth < 8 || depth % 8 != 0 || depth / 8 + 1 > 254)
        return true; /* FP is saved already, or its value goes somewhere else */
    s->fp_word = (uint8_t)(depth / 8 + 1);
    return true;
}

static bool restore_fp(struct flow_state *s, int64_t depth)
{
    bool is_saved = s->fp_word && depth == 8 * (s->fp_word - 1);
    s->fp_word = 0;
    s->fp_depth = 0;
    return is_saved;
}

static bool push(struct flow_state *s, bool is_fp)
{
    if (!grow(s, 8))
        return false;
    return !is_fp || s->depth == FLOW_BY_FP || save_fp(s, s->depth);
}

static bool pop(struct flow_state *s, unsigned reg)
{
    if (reg == SP)
        return false;
    if (reg == RBP && (s->depth == FLOW_BY_FP || !restore_fp(s, s->depth)))
        return false;
    return grow(s, -8);
}

/* leave: SP = FP, pop FP. */
static bool leave(struct flow_state *s)
{
    int64_t depth = s->fp_depth;
    return depth > 0 && set_depth(s, depth) && pop(s, RBP);
}

/* add, or, adc, sbb, and, sub, xor, cmp of SP and an immediate. */
static bool change_sp(struct flow_state *s, const struct instruction *in)
{
    enum { ADD = 0, AND = 4, SUB = 5, CMP = 7 };
    int64_t bytes = x86_64_immediate(in, in->opcode == 0x83);
    switch (*in->modrm >> 3 & 7) {
    case ADD:
        return grow(s, -bytes);
    case SUB:
        return grow(s, bytes);
    case AND:
        return lose_sp(s);
    case CMP:
        return true;
    default:
        return false;
    }
}

static bool load_address(struct flow_state *s, const struct instruction *in)
{
    int64_t bytes;
    if (x86_64_reg(in) != SP)
        return true;
    if (x86_64_is_above(in, SP, &bytes))
        return grow(s, -bytes);
    return x86_64_is_above(in, RBP, &bytes) && s->fp_depth > 0 && set_depth(s, s->fp_depth - bytes);
}

static bool move_memory(struct flow_state *s, const struct instruction *in)
{
    int64_t bytes;
    bool is_store = in->opcode == 0x89;
    if (!is_store && x86_64_reg(in) == SP)
        return false;
    if (x86_64_reg(in) != RBP || s->depth == FLOW_BY_FP || !x86_64_is_above(in, SP, &bytes))
        return true;
    bool is_saved = s->fp_word && s->depth - bytes == 8 * (s->fp_word - 1);
    if (is_store)
        return bytes < 0 || save_fp(s, s->depth - bytes);
    return !is_saved || restore_fp(s, s->depth - bytes);
}

static bool move(struct flow_state *s, const struct instruction *in)
{
    if (!x86_64_rm_is_register(in))
        return move_memory(s, in);
    bool into_rm = in->opcode == 0x89;
    unsigned to = into_rm ? x86_64_rm(in) : x86_64_reg(in);
    unsigned from = into_rm ? x86_64_reg(in) : x86_64_rm(in);
    bool is_whole = in->rex & REX_W;
    if (to == SP)
        return is_whole && from == RBP && s->fp_depth > 0 && set_depth(s, s->fp_depth);
    bool is_frame = to == RBP && from == SP && is_whole && s->fp_word &&
                    s->depth == 8 * (s->fp_word - 1) && s->depth <= FP_DEPTH_MAX;
    if (is_frame)
        s->fp_depth = (int16_t)s->depth;
    return true;
}

/* Instructions with an extension of the opcode instead of a register. */
static bool has_extension(uint8_t opcode)
{
    return (opcode >= 0x80 && opcode <= 0x83) || opcode == 0x8f || opcode == 0xc0 ||
           opcode == 0xc1 || opcode == 0xc6 || opcode == 0xc7 ||
           (opcode >= 0xd0 && opcode <= 0xdf) || opcode == 0xf6 || opcode == 0xf7 || opcode >= 0xfe;
}

/* Whether SP may be written in a way other than handled above. */
static bool may_write_sp(const struct instruction *in)
{
    bool is_rm = x86_64_rm_is_register(in) && x86_64_rm(in) == SP;
    bool is_reg = !has_extension(in->opcode) && x86_64_reg(in) == SP;
    bool only_reads =
        (in->opcode >= 0x38 && in->opcode <= 0x3b) || in->opcode == 0x84 || in->opcode == 0x85;
    return (is_rm || is_reg) && !only_reads;
}

/* add, or, and, sub, xor with SP as the result. */
static bool is_computed_sp(const struct instruction *in)
{
    bool into_reg = in->opcode & 2;
    return in->opcode < 0x38 &&
           (into_reg ? x86_64_reg(in) == SP : x86_64_rm_is_register(in) && x86_64_rm(in) == SP);
}

static bool apply_modrm(struct flow_state *s, const struct instruction *in)
{
    bool is_rm_sp = x86_64_rm_is_register(in) && x86_64_rm(in) == SP;
    if ((in->opcode == 0x83 || in->opcode == 0x81) && is_rm_sp)
        return change_sp(s, in);
    if (in->opcode == 0x8d)
        return load_address(s, in);
    if (in->opcode == 0x89 || in->opcode == 0x8b)
        return move(s, in);
    if (in->opcode == 0x8f)
        return x86_64_rm_is_register(in) ? pop(s, x86_64_rm(in)) : grow(s, -8);
    if (in->opcode == 0xff && (*in->modrm >> 3 & 7) == 6)
        return push(s, false);
    if (is_computed_sp(in))
        return lose_sp(s);
    return !may_write_sp(in);
}

bool x86_64_effect(struct flow_state *s, const struct instruction *in)
{
    const uint8_t enter = 0xc8, leave_opcode = 0xc9, push_flags = 0x9c, pop_flags = 0x9d;
    unsigned reg = (in->opcode & 7u) | (in->rex & (unsigned)REX_B) << 3;
    if (!in->is_plain) /* cmov */
        return (in->second & 0xf0) != 0x40 || x86_64_reg(in) != SP;
    if ((in->opcode & 0xf8) == 0x50)
        return push(s, reg == RBP);
    if ((in->opcode & 0xf8) == 0x58)
        return pop(s, reg);
    if (in->opcode == 0x68 || in->opcode == 0x6a || in->opcode == push_flags)
        return push(s, false);
    if (in->opcode == pop_flags)
        return grow(s, -8);
    if (in->opcode == leave_opcode)
        return leave(s);
    if (in->opcode == enter || (in->opcode & 0xf8) == 0xb8 || (in->opcode & 0xf8) == 0x90)
        return in->opcode != enter && reg != SP;
    return !in->modrm || apply_modrm(s, in);
}
