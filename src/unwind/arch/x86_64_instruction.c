/* SPDX-License-Identifier: MIT */
/*
 * Layout of an instruction (SDM volume 2, section 2.1):
 *
 *     prefixes │ REX │ opcode: one byte; 0f, 0f 38, 0f 3a │ ModRM │ SIB │ displacement │ immediate
 *     prefixes │ VEX, EVEX │ opcode: one byte             │ ModRM │ SIB │ displacement │ immediate
 *
 * The functions below are the opcode maps of appendix A as conditions: of opcodes below 40, 0 to 3
 * of a row of eight have a ModRM byte, 4 and 5 an immediate operand.
 */
#include "unwind/arch/x86_64_instruction.h"

#include "base/containers/cursor.h"

#include <string.h>

enum { INSTRUCTION_BYTES_MAX = 15 };

size_t x86_64_modrm_bytes(const uint8_t *bytes, size_t size)
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

/* Operand and address size, lock, rep, segments (section 2.1.1). */
static bool is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
           byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
           byte == 0x65;
}

/* The one-byte map (table A-2). */
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
    if ((opcode & 0xf0) == 0x70 || (opcode & 0xf8) == 0xb0 || (opcode & 0xf8) == 0xe0)
        return 1; /* jcc; mov; loop, jrcxz, in, out */
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
    case 0xeb:
        return 1;
    case 0xc2:
    case 0xca:
        return 2;
    case 0xc8:
        return 3;
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

/* The map behind 0f (table A-3): almost all have a ModRM byte. */
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
static void skip_operands_0f(struct cursor *c, unsigned map, uint8_t opcode, struct instruction *in)
{
    if (map != 1 || has_modrm_0f(opcode)) {
        in->modrm = c->bytes + c->at;
        cursor_skip(c, x86_64_modrm_bytes(in->modrm, cursor_left(c)));
    }
    cursor_skip(c, map == 3 ? 1 : map == 1 ? immediate_bytes_0f(opcode) : 0);
}

/* Behind 0f, or behind the first byte of a VEX (c4, c5) or EVEX (62) prefix. */
static void skip_extended(struct cursor *c, uint8_t first, struct instruction *in)
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
    skip_operands_0f(c, map, opcode, in);
    in->second = first == 0x0f && map == 1 ? opcode : 0;
}

struct instruction x86_64_decode(const uint8_t *bytes, size_t size)
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
        skip_extended(&c, byte, &in);
    } else {
        if (has_modrm(byte)) {
            in.modrm = c.bytes + c.at;
            cursor_skip(&c, x86_64_modrm_bytes(in.modrm, cursor_left(&c)));
        }
        uint8_t modrm = in.modrm && !c.failed ? *in.modrm : 0;
        cursor_skip(&c, immediate_bytes(byte, in.rex, modrm, word));
    }
    in.bytes = c.failed ? 0 : c.at;
    in.end = bytes + in.bytes;
    return in;
}

int64_t x86_64_immediate(const struct instruction *in, bool is_byte)
{
    int32_t value;
    if (is_byte)
        return (int8_t)in->end[-1];
    memcpy(&value, in->end - sizeof(value), sizeof(value));
    return value;
}

bool x86_64_is_above(const struct instruction *in, unsigned reg, int64_t *bytes)
{
    unsigned mod = *in->modrm >> 6u;
    bool has_base = mod == 1 || mod == 2 || (mod == 0 && reg == SP);
    if (!has_base || x86_64_rm(in) != reg || (reg == SP && in->modrm[1] != 0x24))
        return false;
    const uint8_t *displacement = in->modrm + 1 + (reg == SP);
    int32_t value = 0;
    if (mod == 1)
        value = (int8_t)*displacement;
    else if (mod == 2)
        memcpy(&value, displacement, sizeof(value));
    *bytes = value;
    return true;
}
