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
    bool is_plain;        /* of the one-byte map, so opcode alone identifies the instruction */
    const uint8_t *modrm; /* NULL: none */
    const uint8_t *end;
};

/* An instruction has at most 15 bytes (SDM volume 2, section 2.3.11); prefixes may go on. */
struct instruction x86_64_decode(const uint8_t *bytes, size_t size);

/* Length of ModRM, SIB and displacement; SIZE_MAX: no byte. */
size_t x86_64_modrm_bytes(const uint8_t *bytes, size_t size);
