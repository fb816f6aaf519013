/* SPDX-License-Identifier: MIT */
/* The libraries behind disassembler.h. Each file is built with its library, or NAME_absent.c in its
 * place. */
#pragma once

#include "annotate/disassembler.h"

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
