/* SPDX-License-Identifier: MIT */
#include "unwind/arch/x86_64_frame.h"

#include "unwind/arch/x86_64_instruction.h"

enum { NEAR_BYTES = 5 }; /* of a jump with a 32-bit distance */

/* System V ABI, AMD64 supplement, figure 3.36: by the number in instructions. */
static const uint8_t dwarf_numbers[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
enum { JUMPS_KEPT = 64 };

/* The state of the stack at an instruction. */
struct tracking {
    int64_t depth; /* bytes pushed since the function's start */
    int64_t body_depth, full_depth, fp_depth, saved_fp_depth;
    bool is_lost, has_fp, saves_fp, is_epilogue;
    bool has_ended; /* the instruction before does not lead to this one */
    bool has_copy, saves_copy;
    unsigned copy_register; /* holds the SP of copy_depth, as does the stack at saved_copy_depth */
    int64_t copy_depth, saved_copy_depth;
    bool is_restored; /* by the epilogue, from the copy */
    int64_t realigned_depth;
    bool has_aligned_fp; /* FP was set up to be SP behind the realignment */
    int64_t aligned_fp_depth;
    struct {
        size_t target; /* offset in the function */
        int64_t depth;
    } jumps[JUMPS_KEPT]; /* the last ones forward */
    size_t jump_count;
};

static void shrink(struct tracking *t, int64_t bytes)
{
    if (!t->is_epilogue)
        t->body_depth = t->depth;
    t->is_epilogue = true;
    t->depth -= bytes;
}

static void grow(struct tracking *t, int64_t bytes)
{
    t->depth += bytes;
    t->is_epilogue = false;
}

/* add, sub or and with SP and an immediate: 48 83 /r ib, 48 81 /r id. */
static void track_sp_arithmetic(struct tracking *t, const struct instruction *in)
{
    int64_t bytes = x86_64_immediate(in, in->opcode == 0x83);
    switch (*in->modrm) {
    case 0xec:
        grow(t, bytes);
        break;
    case 0xc4:
        if (bytes < 0)
            grow(t, -bytes);
        else
            shrink(t, bytes);
        break;
    case 0xe4:
        t->is_lost = true;
        break;
    default:
        t->is_epilogue = false;
    }
}

/* The distance between FP and SP is known: they were equal, and SP was not realigned since then. */
static bool has_fp_depth(const struct tracking *t, int64_t *depth)
{
    *depth = t->is_lost ? t->aligned_fp_depth : t->fp_depth;
    return t->is_lost ? t->has_aligned_fp : t->has_fp;
}

/* lea disp(%rsp), %rsp and lea disp(%rbp), %rsp. */
static void track_lea(struct tracking *t, const struct instruction *in)
{
    unsigned base = in->modrm[0] & 7, mod = in->modrm[0] >> 6;
    int64_t depth = t->depth;
    if ((mod != 1 && mod != 2) || x86_64_reg(in) != SP || in->rex != (0x40 | REX_W))
        return;
    bool is_by_sp = base == SP && in->modrm[1] == 0x24;
    if (!is_by_sp && !(base == RBP && has_fp_depth(t, &depth)))
        return;
    int64_t bytes = x86_64_immediate(in, mod == 1) + t->depth - depth;
    if (bytes < 0)
        grow(t, -bytes);
    else
        shrink(t, bytes);
}

/* add, or, and, sub, xor of a register and SP: alloca(), variable arrays. */
static void track_register_arithmetic(struct tracking *t, const struct instruction *in)
{
    uint8_t to = in->opcode & 2 ? *in->modrm >> 3 & 7 : *in->modrm & 7;
    bool is_register = (*in->modrm & 0xc0) == 0xc0 || (in->opcode & 2);
    uint8_t extension = in->opcode & 2 ? in->rex & 4 : in->rex & REX_B;
    t->is_lost |= to == 4 && is_register && !extension && (in->rex & REX_W);
}

static void track_push(struct tracking *t, const struct instruction *in)
{
    grow(t, 8);
    bool is_rbp = (in->opcode & 7) == RBP && !(in->rex & REX_B);
    if (is_rbp && !t->saves_fp && (in->opcode & 0xf8) == 0x50) {
        t->saves_fp = true;
        t->saved_fp_depth = t->depth;
    }
}

/* SP was realigned, and becomes what it was at the copy. */
static void restore(struct tracking *t)
{
    t->is_restored = t->is_lost;
    t->realigned_depth = t->is_epilogue ? t->body_depth : t->depth;
    t->is_lost = false;
    shrink(t, t->depth - t->copy_depth);
}

static void track_memory_move(struct tracking *t, const struct instruction *in)
{
    unsigned reg = x86_64_reg(in);
    bool is_store = in->opcode == 0x89;
    int64_t bytes;
    if (!x86_64_is_above(in, SP, &bytes))
        return;
    if (is_store && reg == RBP && !t->saves_fp) {
        t->saves_fp = true;
        t->saved_fp_depth = t->depth - bytes;
    } else if (is_store && t->has_copy && reg == t->copy_register && !t->saves_copy) {
        t->saves_copy = true;
        t->saved_copy_depth = t->depth - bytes;
    } else if (!is_store && reg == SP && t->saves_copy && t->saved_copy_depth == t->depth - bytes) {
        restore(t);
    }
}

/* pop %rsp leads to the copy. */
static void track_pop(struct tracking *t, const struct instruction *in)
{
    bool is_sp = in->opcode == 0x58 + SP && !(in->rex & REX_B);
    if (is_sp && t->saves_copy && t->saved_copy_depth == t->depth)
        restore(t);
    else
        shrink(t, 8);
}

static void set_fp(struct tracking *t)
{
    if (t->is_lost && !t->has_aligned_fp) {
        t->has_aligned_fp = true;
        t->aligned_fp_depth = t->depth;
    } else if (!t->is_lost && !t->has_fp) {
        t->has_fp = true;
        t->fp_depth = t->depth;
    }
}

/* Moves into SP, of SP into FP or another register, and of these registers to the stack. */
static void track_move(struct tracking *t, const struct instruction *in)
{
    if (!(in->rex & REX_W))
        return;
    if (!x86_64_rm_is_register(in)) {
        track_memory_move(t, in);
        return;
    }
    bool into_rm = in->opcode == 0x89;
    unsigned to = into_rm ? x86_64_rm(in) : x86_64_reg(in);
    unsigned from = into_rm ? x86_64_reg(in) : x86_64_rm(in);
    if (to == SP && t->has_copy && from == t->copy_register) {
        restore(t);
    } else if (to == SP && from == RBP && t->is_lost && t->has_aligned_fp) {
        shrink(t, t->depth - t->aligned_fp_depth);
    } else if (to == SP) {
        t->is_lost = true;
    } else if (from == SP && to == RBP) {
        set_fp(t);
    } else if (from == SP && !t->has_copy && !t->is_lost) {
        t->has_copy = true;
        t->copy_register = to;
        t->copy_depth = t->depth;
    }
}

/* A jump with bytes on the stack is none out of the function: the pops before were arguments of a
 * call. Instructions between pops may hide a part of the body's depth: the deepest one counts. */
static void end_path(struct tracking *t, bool returns)
{
    bool leaves = returns || (t->is_epilogue && t->depth == 0);
    if (leaves && t->is_restored) {
        t->is_lost = true;
        t->body_depth = t->realigned_depth;
    }
    t->is_restored = false;
    if (leaves && t->is_epilogue && t->body_depth > t->full_depth)
        t->full_depth = t->body_depth;
    if (leaves)
        t->depth = t->full_depth;
    t->is_epilogue = false;
    t->has_ended = true;
}

/* jmp and jcc, with a distance of 8 or 32 bits. */
static void note_jump(struct tracking *t, const struct instruction *in, size_t at)
{
    bool is_byte = in->is_plain && ((in->opcode & 0xf0) == 0x70 || in->opcode == 0xeb);
    bool is_word = in->is_plain ? in->opcode == 0xe9
                                : in->bytes == NEAR_BYTES + 1 && in->end[-6] == 0x0f &&
                                      (in->end[-5] & 0xf0) == 0x80;
    if (!is_byte && !is_word)
        return;
    int64_t distance = x86_64_immediate(in, is_byte);
    if (distance <= 0)
        return;
    size_t place = t->jump_count++ % JUMPS_KEPT;
    t->jumps[place].target = at + in->bytes + (size_t)distance;
    t->jumps[place].depth = t->depth;
}

/* Behind a return or jump, the depth is that of the jump that leads there. */
static void begin_path(struct tracking *t, size_t at)
{
    size_t count = t->jump_count < JUMPS_KEPT ? t->jump_count : JUMPS_KEPT;
    for (size_t i = 0; i < count && t->has_ended; i++) {
        if (t->jumps[i].target != at)
            continue;
        t->depth = t->jumps[i].depth;
        t->has_ended = false;
    }
    t->has_ended = false;
}

/* push of a register, an immediate, or memory (ff /6). */
static bool is_push(const struct instruction *in)
{
    bool is_group = in->opcode == 0xff && (*in->modrm >> 3 & 7) == 6;
    return (in->opcode & 0xf8) == 0x50 || in->opcode == 0x68 || in->opcode == 0x6a || is_group;
}

/* pop into a register or memory. */
static bool is_pop(const struct instruction *in)
{
    return (in->opcode & 0xf8) == 0x58 || in->opcode == 0x8f;
}

static void track(struct tracking *t, const struct instruction *in)
{
    uint8_t opcode = in->opcode;
    if (!in->is_plain)
        return;
    if (is_push(in))
        track_push(t, in);
    else if (is_pop(in))
        track_pop(t, in);
    else if ((opcode == 0x83 || opcode == 0x81) && in->rex == (0x40 | REX_W))
        track_sp_arithmetic(t, in);
    else if (opcode == 0x8d)
        track_lea(t, in);
    else if (opcode < 0x38 && ((opcode & 7) == 1 || (opcode & 7) == 3))
        track_register_arithmetic(t, in);
    else if (opcode == 0x89 || opcode == 0x8b)
        track_move(t, in);
    else if (opcode == 0xc9) /* leave: SP = FP, pop FP */
        shrink(t, t->has_fp ? t->depth - t->fp_depth + 8 : 0);
    else if (opcode == 0xc3 || opcode == 0xc2 || opcode == 0xe9 || opcode == 0xeb)
        end_path(t, opcode == 0xc3 || opcode == 0xc2);
}

struct code_frame x86_64_frame_at(const uint8_t *bytes, size_t size)
{
    struct tracking t = {0};
    for (size_t at = 0; at < size;) {
        struct instruction in = x86_64_decode(bytes + at, size - at);
        if (in.bytes == 0)
            return (struct code_frame){0};
        if (t.has_ended)
            begin_path(&t, at);
        note_jump(&t, &in, at);
        track(&t, &in);
        at += in.bytes;
    }
    if (t.has_ended)
        begin_path(&t, size);
    bool is_known = !t.is_lost && t.depth >= 0;
    bool saves_fp = t.saves_fp && t.depth >= t.saved_fp_depth; /* else not yet, or popped already */
    bool has_copy = t.is_lost && t.has_copy;
    return (struct code_frame){
        .is_known = is_known,
        .return_bytes = is_known ? (uint64_t)t.depth : 0,
        .has_fp = saves_fp && t.has_fp && t.fp_depth >= t.saved_fp_depth,
        .fp_return_bytes = (uint64_t)t.fp_depth,
        .saves_fp = saves_fp,
        .saved_fp_return_bytes = (uint64_t)t.saved_fp_depth,
        .has_copy = has_copy,
        .copy_register = dwarf_numbers[t.copy_register],
        .copy_return_bytes = (uint64_t)t.copy_depth,
        .saves_copy = has_copy && t.saves_copy && t.depth >= t.saved_copy_depth,
        .saved_copy_bytes = (uint64_t)(t.depth - t.saved_copy_depth),
    };
}

bool x86_64_is_callee_saved(uint32_t dwarf_number)
{
    return dwarf_number == 3 || dwarf_number == 6 || dwarf_number == 7 ||
           (dwarf_number >= 12 && dwarf_number <= 15);
}
