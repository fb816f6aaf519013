/* SPDX-License-Identifier: MIT */
#include "unwind/arch/x86_64_code.h"

#include "base/containers/cursor.h"
#include "unwind/arch/x86_64_instruction.h"

#include <string.h>

enum {
    NEAR_BYTES = 5,      /* of a call or jump with a 32-bit distance */
    SHORT_BYTES = 2,     /* of a jump with an 8-bit distance */
    BEFORE_EXIT_MAX = 4, /* instructions up to the call of a function that ends the thread */
    HLT = 0xf4,
};

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

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
            x86_64_modrm_bytes(call + 1, bytes - 1) == bytes - 1)
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
        else if (jump[0] == 0xeb || (jump[0] & 0xf0) == 0x70)
            *target_svma = svma + *at + SHORT_BYTES + (uint64_t)(int64_t)(int8_t)jump[1];
        else
            continue;
        ++*at;
        return true;
    }
    return false;
}

bool x86_64_tail_jump(const uint8_t *bytes, size_t size, uint64_t svma, uint64_t *target_svma)
{
    size_t at = 0;
    bool is_conditional = size > 0 && (bytes[0] & 0xf0) == 0x70; /* the other ones begin later */
    return !is_conditional && x86_64_next_jump(bytes, size, &at, svma, target_svma) && at == 1;
}

bool x86_64_has_indirect_jump(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at + 1 < size; at++)
        if (bytes[at] == 0xff && (bytes[at + 1] >> 3 & 7) == 4)
            return true;
    return false;
}

bool x86_64_is_register_jump(const uint8_t *bytes)
{
    enum { JUMP = 0xff, REGISTER = 0xe0 };
    return bytes[0] == JUMP && (bytes[1] & 0xf8) == REGISTER;
}

uint64_t x86_64_cleanup_bytes(const uint8_t *bytes, size_t size)
{
    static const uint8_t add_to_sp[] = {0x48, 0x83, 0xc4}; /* add $bytes, %rsp */
    bool is_cleanup = size > sizeof(add_to_sp) &&
                      memcmp(bytes, add_to_sp, sizeof(add_to_sp)) == 0 &&
                      bytes[sizeof(add_to_sp)] < 0x80;
    return is_cleanup ? bytes[sizeof(add_to_sp)] : 0;
}

/* Of the one-byte map: jcc, ret, int3, int, iret, loop, call, jmp, hlt. */
static bool may_branch(uint8_t opcode)
{
    bool returns = opcode == 0xc2 || opcode == 0xc3 || (opcode >= 0xca && opcode <= 0xcf);
    bool jumps = (opcode & 0xf0) == 0x70 || (opcode >= 0xe0 && opcode <= 0xe3);
    return returns || jumps || (opcode >= 0xe8 && opcode <= 0xeb) || opcode == HLT;
}

size_t x86_64_first_indirect_jump(const uint8_t *bytes, size_t size, bool may_call)
{
    const unsigned call = 2, jump = 4, push = 6;
    for (size_t at = 0; at < size;) {
        struct instruction in = x86_64_decode(bytes + at, size - at);
        if (in.bytes == 0) /* cut off: modrm may be behind the end */
            return 0;
        unsigned extension = in.modrm ? *in.modrm >> 3 & 7 : 0;
        if (in.is_plain && in.opcode == 0xff && extension == jump)
            return at;
        bool is_call = in.opcode == 0xe8 || (in.opcode == 0xff && extension == call);
        bool is_branch =
            in.is_plain && !(may_call && is_call) &&
            (in.opcode >= 0xfe ? extension > 1 && extension != push : may_branch(in.opcode));
        bool may_jump = !in.is_plain && (in.second & 0xf0) == 0x80;
        if (is_branch || may_jump)
            return 0;
        at += in.bytes;
    }
    return 0;
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

size_t x86_64_instruction_bytes(const uint8_t *bytes, size_t size)
{
    return x86_64_decode(bytes, size).bytes;
}

/* Some instructions without a jump, a call, and a halt behind the call. */
static bool calls_and_halts(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < BEFORE_EXIT_MAX; i++) {
        struct instruction in = x86_64_decode(bytes + at, size - at);
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

/* The instruction returns, jumps, calls or traps. */
static bool may_not_go_on(const struct instruction *in, const uint8_t *bytes)
{
    const uint8_t ud2[] = {0x0f, 0x0b};
    if (!in->is_plain)
        return in->bytes == sizeof(ud2) && memcmp(bytes, ud2, sizeof(ud2)) == 0;
    uint8_t extension = in->modrm ? *in->modrm >> 3 & 7 : 0;
    bool is_branch = in->opcode == 0xff && extension >= 2 && extension <= 5; /* calls, jumps */
    return is_branch || in->opcode == 0xc3 || in->opcode == 0xc2 || in->opcode == 0xe8 ||
           in->opcode == 0xe9 || in->opcode == 0xeb || in->opcode == 0xf4;
}

size_t x86_64_pass_instruction(const uint8_t *bytes, size_t size, bool *may_start)
{
    struct instruction in = x86_64_decode(bytes, size);
    if (in.bytes == 0)
        *may_start = true; /* data */
    else if (!is_padding(&in, bytes))
        *may_start = may_not_go_on(&in, bytes);
    return in.bytes;
}
