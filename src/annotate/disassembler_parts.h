/* SPDX-License-Identifier: MIT */
/* The libraries behind disassembler.h. Each file is built with its library, or NAME_absent.c in its
 * place. */
#pragma once

#include "annotate/disassembler.h"

/* False: the library is not there. */
bool zydis_disassemble(const struct disassembly *disassembly);
bool zydis_is_there(void);

void capstone_prepare(void);
bool capstone_disassemble(const struct disassembly *disassembly);
bool capstone_is_there(void);
bool capstone_is_built_in(void);
