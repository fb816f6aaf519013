/* SPDX-License-Identifier: MIT */
/* The libraries behind disassembler.h, and the machines of each. Each file is built with its
 * library, or NAME_absent.c in its place. */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

struct disassembly;

/* Else capstone reads the machine's code, or no library. */
static inline bool zydis_reads(uint16_t machine)
{
    return machine == EM_X86_64 || machine == EM_386;
}

/* Loads the library, once. */
void zydis_prepare(void);
/* False: the library is not loaded. */
bool zydis_disassemble(const struct disassembly *disassembly);
bool zydis_is_there(void);
bool zydis_is_built_in(void);

void capstone_prepare(void);
bool capstone_disassemble(const struct disassembly *disassembly);
bool capstone_is_there(void);
bool capstone_is_built_in(void);
