/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86-64: lengths and operands, in 64-bit mode. Source: Intel SDM volume 2, chapter
 * 2 and appendix A.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SP = 4,
    RBP = 5,
    REX_B = 1,
    REX_R = 4,
    REX_W = 8,
};

struct instruction {
    size_t bytes; /* 0: unknown */
    uint8_t rex, opcode;
    uint8_t second;       /* of the map of 0f; else 0 */
    bool is_plain;        /* of the one-byte map, so opcode alone identifies the instruction */
    const uint8_t *modrm; /* NULL: none */
    const uint8_t *end;
};

/* An instruction has at most 15 bytes (SDM volume 2, section 2.3.11); prefixes may go on. */
struct instruction x86_64_decode(const uint8_t *bytes, size_t size);

/* Operands of a ModRM byte: registers by their number in the instruction. */
static inline unsigned x86_64_reg(const struct instruction *in)
{
    return (*in->modrm >> 3 & 7u) | (in->rex & (unsigned)REX_R) << 1;
}

static inline unsigned x86_64_rm(const struct instruction *in)
{
    return (*in->modrm & 7u) | (in->rex & (unsigned)REX_B) << 3;
}

static inline bool x86_64_rm_is_register(const struct instruction *in)
{
    return (*in->modrm & 0xc0) == 0xc0;
}

/* The immediate operand at the end of the instruction: 1 or 4 bytes. */
int64_t x86_64_immediate(const struct instruction *in, bool is_byte);

/* Whether the memory operand is bytes(%register), register being SP or RBP. */
bool x86_64_is_above(const struct instruction *in, unsigned reg, int64_t *bytes);

/* Length of ModRM, SIB and displacement; SIZE_MAX: no byte. */
size_t x86_64_modrm_bytes(const uint8_t *bytes, size_t size);
