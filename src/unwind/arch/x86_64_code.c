/* SPDX-License-Identifier: MIT */
#include "unwind/arch/x86_64_code.h"

#include "base/containers/cursor.h"

#include <string.h>

enum {
    RBP = 5,
    REX_B = 1,
    REX_W = 8,
    NEAR_BYTES = 5,  /* of a call or jump with a 32-bit distance */
    SHORT_BYTES = 2, /* of a jump with an 8-bit distance */
    INSTRUCTION_BYTES_MAX = 15,
    BEFORE_EXIT_MAX = 4, /* instructions up to the call of a function that ends the thread */
    HLT = 0xf4,
};

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/* Length of ModRM, SIB and displacement. */
static size_t modrm_bytes(const uint8_t *bytes, size_t size)
{
    if (size == 0)
        return SIZE_MAX;
    unsigned mod = bytes[0] >> 6u, rm = bytes[0] & 7u;
    if (mod == 3)
        return 1;
    bool has_sib = rm == 4;
    bool is_absolute = mod == 0 && (rm == 5 || (has_sib && size > 1 && (bytes[1] & 7) == 5));
    size_t displacement = mod == 1 ? 1 : mod == 2 || is_absolute ? 4 : 0;
    return 1 + (size_t)has_sib + displacement;
}

static uint64_t relative_target(const uint8_t *distance, uint64_t end_svma)
{
    int32_t value;
    memcpy(&value, distance, sizeof(value));
    return end_svma + (uint64_t)(int64_t)value;
}

/* ff /2 of any length. */
static bool is_indirect_call(const uint8_t *end)
{
    for (size_t bytes = 2; bytes <= CODE_CALL_BYTES_MAX; bytes++) {
        const uint8_t *call = end - bytes;
        if (call[0] == 0xff && (call[1] >> 3 & 7) == 2 &&
            modrm_bytes(call + 1, bytes - 1) == bytes - 1)
            return true;
    }
    return false;
}

struct code_branch x86_64_call_before(const uint8_t *bytes, size_t size, uint64_t end_svma)
{
    if (size < CODE_CALL_BYTES_MAX)
        return (struct code_branch){BRANCH_NONE, 0};
    const uint8_t *end = bytes + size;
    if (end[-5] == 0xe8)
        return (struct code_branch){BRANCH_DIRECT, relative_target(end - 4, end_svma)};
    if (end[-6] == 0xff && end[-5] == 0x15)
        return (struct code_branch){BRANCH_SLOT, relative_target(end - 4, end_svma)};
    return (struct code_branch){is_indirect_call(end) ? BRANCH_INDIRECT : BRANCH_NONE, 0};
}

struct code_branch x86_64_jump_at(const uint8_t *bytes, size_t size, uint64_t svma)
{
    struct cursor c = cursor_of(bytes, size);
    if (size >= sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0)
        cursor_skip(&c, sizeof(endbr64));
    uint8_t opcode = cursor_u8(&c);
    if (opcode == 0xf2) /* bnd */
        opcode = cursor_u8(&c);
    bool is_slot = opcode == 0xff && cursor_u8(&c) == 0x25;
    int32_t distance = opcode == 0xeb ? (int8_t)cursor_u8(&c) : (int32_t)cursor_u32(&c);
    if (c.failed || (!is_slot && opcode != 0xe9 && opcode != 0xeb))
        return (struct code_branch){BRANCH_NONE, 0};
    return (struct code_branch){is_slot ? BRANCH_SLOT : BRANCH_DIRECT,
                                svma + c.at + (uint64_t)(int64_t)distance};
}

enum code_reference x86_64_function_reference(const uint8_t *bytes, size_t size, uint64_t svma,
                                              uint64_t *target_svma)
{
    enum { LEA_BYTES = 7 };
    if (size >= NEAR_BYTES && bytes[0] == 0xe8) {
        *target_svma = relative_target(bytes + 1, svma + NEAR_BYTES);
        return REFERENCE_CALL;
    }
    if (size < LEA_BYTES || (bytes[0] & 0xf8) != 0x48)
        return REFERENCE_NONE;
    bool is_lea = bytes[1] == 0x8d && (bytes[2] & 0xc7) == 0x05;
    bool is_mov = bytes[1] == 0xc7 && (bytes[2] & 0xf8) == 0xc0;
    *target_svma = relative_target(bytes + 3, is_lea ? svma + LEA_BYTES : 0);
    return is_lea || is_mov ? REFERENCE_ADDRESS : REFERENCE_NONE;
}

bool x86_64_next_jump(const uint8_t *bytes, size_t size, size_t *at, uint64_t svma,
                      uint64_t *target_svma)
{
    for (; *at + SHORT_BYTES <= size; ++*at) {
        const uint8_t *jump = bytes + *at;
        bool is_conditional = *at > 0 && jump[-1] == 0x0f && (jump[0] & 0xf0) == 0x80;
        bool is_near = (jump[0] == 0xe9 || is_conditional) && *at + NEAR_BYTES <= size;
        if (is_near)
            *target_svma = relative_target(jump + 1, svma + *at + NEAR_BYTES);
        else if (jump[0] == 0xeb)
            *target_svma = svma + *at + SHORT_BYTES + (uint64_t)(int64_t)(int8_t)jump[1];
        else
            continue;
        ++*at;
        return true;
    }
    return false;
}

bool x86_64_has_indirect_jump(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + 1 < size; at++)
        if (bytes[at] == 0xff && (bytes[at + 1] >> 3 & 7) == 4)
            return true;
    return false;
}

bool x86_64_starts_context(const uint8_t *bytes, size_t size)
{
    /* mov %rbx, %rsp; mov (%rsp), %rdi or pop %rdi; test %rdi, %rdi */
    static const uint8_t moves[] = {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff};
    static const uint8_t pops[] = {0x48, 0x89, 0xdc, 0x5f, 0x48, 0x85, 0xff};
    return (size >= sizeof(moves) && memcmp(bytes, moves, sizeof(moves)) == 0) ||
           (size >= sizeof(pops) && memcmp(bytes, pops, sizeof(pops)) == 0);
}

bool x86_64_is_sigreturn(const uint8_t *bytes, size_t size)
{
    /* mov $15, %rax or %eax; syscall */
    static const uint8_t wide[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t narrow[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
    return (size >= sizeof(wide) && memcmp(bytes, wide, sizeof(wide)) == 0) ||
           (size >= sizeof(narrow) && memcmp(bytes, narrow, sizeof(narrow)) == 0);
}

bool x86_64_may_end_function(const uint8_t *bytes, size_t size)
{
    const uint8_t nop = 0x90, int3 = 0xcc, ret = 0xc3; /* and long forms of nop end with zeros */
    uint8_t last = size ? bytes[size - 1] : 1;
    return last == nop || last == int3 || last == ret || last == 0;
}

struct instruction {
    size_t bytes; /* 0: unknown */
    uint8_t rex, opcode;
    bool is_plain;        /* of the one-byte map, so opcode alone identifies the instruction */
    const uint8_t *modrm; /* NULL: none */
    const uint8_t *end;
};

static bool is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
           byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
           byte == 0x65;
}

static bool has_modrm(uint8_t opcode)
{
    if (opcode < 0x40)
        return (opcode & 7) < 4;
    return opcode == 0x63 || opcode == 0x69 || opcode == 0x6b ||
           (opcode >= 0x80 && opcode <= 0x8f) || opcode == 0xc0 || opcode == 0xc1 ||
           opcode == 0xc6 || opcode == 0xc7 || (opcode >= 0xd0 && opcode <= 0xd3) ||
           (opcode >= 0xd8 && opcode <= 0xdf) || opcode == 0xf6 || opcode == 0xf7 || opcode >= 0xfe;
}

/* Bytes of the immediate operand; word: of an operand of full size. */
static size_t immediate_bytes(uint8_t opcode, uint8_t rex, uint8_t modrm, size_t word)
{
    if (opcode < 0x40)
        return (opcode & 7) == 4 ? 1 : (opcode & 7) == 5 ? word : 0;
    if ((opcode & 0xf8) == 0xb8)
        return rex & REX_W ? 8 : word;
    if ((opcode & 0xf0) == 0x70 || (opcode & 0xf8) == 0xb0)
        return 1;
    switch (opcode) {
    case 0x68:
    case 0x69:
    case 0x81:
    case 0xa9:
    case 0xc7:
        return word;
    case 0xe8:
    case 0xe9:
        return 4;
    case 0x6a:
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xa8:
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xcd:
    case 0xe3:
    case 0xeb:
        return 1;
    case 0xc2:
        return 2;
    case 0xf6:
        return (modrm & 0x30) == 0 ? 1 : 0;
    case 0xf7:
        return (modrm & 0x30) == 0 ? word : 0;
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
        return 8;
    default:
        return 0;
    }
}

/* The map behind 0f: almost all have a ModRM byte. */
static bool has_modrm_0f(uint8_t opcode)
{
    return !(opcode == 0x05 || opcode == 0x0b || (opcode >= 0x30 && opcode <= 0x37) ||
             opcode == 0x77 || (opcode & 0xf0) == 0x80 || (opcode >= 0xa0 && opcode <= 0xa2) ||
             (opcode >= 0xa8 && opcode <= 0xaa) || (opcode >= 0xc8 && opcode <= 0xcf));
}

static size_t immediate_bytes_0f(uint8_t opcode)
{
    if ((opcode & 0xf0) == 0x80)
        return 4;
    return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac ||
           opcode == 0xba || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
}

/* ModRM and immediate of an opcode in the map of 0f (1), 0f 38 (2) or 0f 3a (3). */
static void skip_operands_0f(struct cursor *c, unsigned map, uint8_t opcode)
{
    if (map != 1 || has_modrm_0f(opcode))
        cursor_skip(c, modrm_bytes(c->bytes + c->at, cursor_left(c)));
    cursor_skip(c, map == 3 ? 1 : map == 1 ? immediate_bytes_0f(opcode) : 0);
}

/* Behind 0f, or behind the first byte of a VEX (c4, c5) or EVEX (62) prefix. */
static void skip_extended(struct cursor *c, uint8_t first)
{
    unsigned map = 1;
    if (first == 0xc5) {
        cursor_skip(c, 1);
    } else if (first == 0xc4 || first == 0x62) {
        map = cursor_u8(c) & (first == 0x62 ? 7 : 31);
        cursor_skip(c, first == 0x62 ? 2 : 1);
    }
    uint8_t opcode = cursor_u8(c);
    if (first == 0x0f && (opcode == 0x38 || opcode == 0x3a)) {
        map = opcode == 0x38 ? 2 : 3;
        opcode = cursor_u8(c);
    }
    if (map < 1 || map > 3)
        cursor_fail(c);
    skip_operands_0f(c, map, opcode);
}

/* An instruction has at most 15 bytes (SDM volume 2, section 2.3.11); prefixes may go on. */
static struct instruction decode(const uint8_t *bytes, size_t size)
{
    struct instruction in = {.is_plain = true};
    struct cursor c = cursor_of(bytes, size < INSTRUCTION_BYTES_MAX ? size : INSTRUCTION_BYTES_MAX);
    size_t word = 4;
    uint8_t byte;
    while (is_prefix(byte = cursor_u8(&c)))
        word = byte == 0x66 ? 2 : word;
    if ((byte & 0xf0) == 0x40) {
        in.rex = byte;
        byte = cursor_u8(&c);
    }
    in.opcode = byte;
    in.is_plain = byte != 0x0f && byte != 0xc4 && byte != 0xc5 && byte != 0x62;
    if (!in.is_plain) {
        skip_extended(&c, byte);
    } else {
        if (has_modrm(byte)) {
            in.modrm = c.bytes + c.at;
            cursor_skip(&c, modrm_bytes(in.modrm, cursor_left(&c)));
        }
        uint8_t modrm = in.modrm && !c.failed ? *in.modrm : 0;
        cursor_skip(&c, immediate_bytes(byte, in.rex, modrm, word));
    }
    in.bytes = c.failed ? 0 : c.at;
    in.end = bytes + in.bytes;
    return in;
}

size_t x86_64_instruction_bytes(const uint8_t *bytes, size_t size)
{
    return decode(bytes, size).bytes;
}

/* Some instructions without a jump, a call, and a halt behind the call. */
static bool calls_and_halts(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < BEFORE_EXIT_MAX; i++) {
        struct instruction in = decode(bytes + at, size - at);
        at += in.bytes;
        if (in.bytes == 0 || at >= size)
            return false;
        if (in.is_plain && in.opcode == 0xe8)
            return bytes[at] == HLT;
        bool may_jump = !in.is_plain || (in.opcode & 0xf0) == 0x70 || in.opcode >= 0xc2;
        if (may_jump)
            return false;
    }
    return false;
}

bool x86_64_ends_thread(const uint8_t *bytes, size_t size)
{
    /* mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall */
    static const uint8_t exit_call[] = {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05};
    return (size > 0 && bytes[0] == HLT) ||
           (size >= sizeof(exit_call) && memcmp(bytes, exit_call, sizeof(exit_call)) == 0) ||
           calls_and_halts(bytes, size);
}

static bool is_padding(const struct instruction *in, const uint8_t *bytes)
{
    bool is_long_nop = !in->is_plain && in->bytes >= 3 && in->end[-1] == 0 &&
                       (bytes[0] == 0x0f || bytes[0] == 0x66 || bytes[0] == 0x2e);
    return is_long_nop || (in->is_plain && (in->opcode == 0x90 || in->opcode == 0xcc));
}

bool x86_64_may_precede_function(const uint8_t *bytes, size_t size, bool is_behind_such)
{
    const uint8_t ud2[] = {0x0f, 0x0b};
    struct instruction in = decode(bytes, size);
    if (in.bytes == 0)
        return true; /* data */
    if (is_padding(&in, bytes))
        return is_behind_such;
    if (!in.is_plain)
        return in.bytes == sizeof(ud2) && memcmp(bytes, ud2, sizeof(ud2)) == 0;
    uint8_t extension = in.modrm ? *in.modrm >> 3 & 7 : 0;
    bool is_branch = in.opcode == 0xff && extension >= 2 && extension <= 5; /* calls, jumps */
    return is_branch || in.opcode == 0xc3 || in.opcode == 0xc2 || in.opcode == 0xe8 ||
           in.opcode == 0xe9 || in.opcode == 0xeb || in.opcode == 0xf4;
}

enum { JUMPS_KEPT = 64 };

/* The state of the stack at an instruction. */
struct tracking {
    int64_t depth; /* bytes pushed since the function's start */
    int64_t body_depth, full_depth, fp_depth, saved_fp_depth;
    bool is_lost, has_fp, saves_fp, is_epilogue;
    bool has_ended; /* the instruction before does not lead to this one */
    struct {
        size_t target; /* offset in the function */
        int64_t depth;
    } jumps[JUMPS_KEPT]; /* the last ones forward */
    size_t jump_count;
};

/* Immediate operand at the end of an instruction. */
static int64_t immediate_of(const struct instruction *in, bool is_byte)
{
    int32_t value;
    if (is_byte)
        return (int8_t)in->end[-1];
    memcpy(&value, in->end - sizeof(value), sizeof(value));
    return value;
}

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
    int64_t bytes = immediate_of(in, in->opcode == 0x83);
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

/* lea disp(%rsp), %rsp. */
static void track_lea(struct tracking *t, const struct instruction *in)
{
    bool is_byte = *in->modrm == 0x64, is_word = *in->modrm == 0xa4;
    if ((!is_byte && !is_word) || in->modrm[1] != 0x24 || in->rex != (0x40 | REX_W))
        return;
    int64_t bytes = immediate_of(in, is_byte);
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

/* mov %rbp, disp(%rsp). */
static void track_fp_store(struct tracking *t, const struct instruction *in)
{
    bool is_word = *in->modrm == 0xac, is_byte = *in->modrm == 0x6c;
    if (t->saves_fp || in->rex != (0x40 | REX_W) || (*in->modrm & 0x3f) != 0x2c ||
        in->modrm[1] != 0x24)
        return;
    t->saves_fp = true;
    t->saved_fp_depth = t->depth - (is_word || is_byte ? immediate_of(in, is_byte) : 0);
}

/* Moves into SP, and of SP into FP. */
static void track_move(struct tracking *t, const struct instruction *in)
{
    bool into_rm = in->opcode == 0x89;
    uint8_t modrm = *in->modrm;
    if (into_rm && (modrm & 0xc0) != 0xc0)
        track_fp_store(t, in);
    if (!(in->rex & REX_W) || (modrm & 0xc0) != 0xc0)
        return;
    unsigned to = into_rm ? modrm & 7 : modrm >> 3 & 7;
    unsigned from = into_rm ? modrm >> 3 & 7 : modrm & 7;
    bool is_low = !(in->rex & (4 | REX_B));
    if (is_low && to == RBP && from == 4 && !t->has_fp) {
        t->has_fp = true;
        t->fp_depth = t->depth;
    } else if (is_low && to == 4) {
        t->is_lost = true;
    }
}

/* A jump with bytes on the stack is none out of the function: the pops before were arguments of a
 * call. Instructions between pops may hide a part of the body's depth: the deepest one counts. */
static void end_path(struct tracking *t, bool returns)
{
    bool leaves = returns || (t->is_epilogue && t->depth == 0);
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
    int64_t distance = immediate_of(in, is_byte);
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

static void track(struct tracking *t, const struct instruction *in)
{
    uint8_t opcode = in->opcode;
    if (!in->is_plain)
        return;
    if ((opcode & 0xf8) == 0x50 || opcode == 0x68 || opcode == 0x6a)
        track_push(t, in);
    else if ((opcode & 0xf8) == 0x58)
        shrink(t, 8);
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
        struct instruction in = decode(bytes + at, size - at);
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
    return (struct code_frame){
        .is_known = is_known,
        .return_bytes = is_known ? (uint64_t)t.depth : 0,
        .has_fp = saves_fp && t.has_fp && t.fp_depth >= t.saved_fp_depth,
        .fp_return_bytes = (uint64_t)t.fp_depth,
        .saves_fp = saves_fp,
        .saved_fp_return_bytes = (uint64_t)t.saved_fp_depth,
    };
}
