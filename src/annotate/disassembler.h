/* SPDX-License-Identifier: MIT */
/*
 * Machine code to text: Zydis for x86, capstone for other machines. Both libraries are optional at
 * configure time, and loaded at need: Zydis delays a start of rec by 0.1 ms, capstone has 3 MB of
 * relocations. Bytes without a meaning become a line ".byte 0x06" each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instruction {
    uint64_t svma;
    uint32_t bytes;
    bool has_target; /* of a direct call or jump */
    uint64_t target_svma;
    char text[192];
};

struct disassembly {
    uint16_t machine; /* EM_* */
    bool is_att;      /* x86: AT&T syntax */
    uint64_t svma;    /* of the first byte */
    const uint8_t *bytes;
    size_t size;
    /* Called for each instruction, in order; false ends the disassembly. */
    bool (*take)(void *context, const struct instruction *instruction);
    void *context;
};

/* Loads libraries; before a process is confined. */
void disassembler_prepare(void);

/* NULL, or why code of the machine cannot be shown, and the remedy. */
const char *disassembler_gap(uint16_t machine);

/* Whether the machine's disassembler is there. */
bool disassemble(const struct disassembly *disassembly);

/* The libraries that rec was built without: "", "Zydis", "capstone" or "Zydis, capstone". */
const char *disassemblers_missing(void);
