/* SPDX-License-Identifier: MIT */
/* In place of zydis.c where Zydis was not there to build with. */
#include "annotate/arch/libraries.h"

void zydis_prepare(void)
{
}

bool zydis_is_there(void)
{
    return false;
}

bool zydis_is_built_in(void)
{
    return false;
}

bool zydis_disassemble(const struct disassembly *disassembly)
{
    (void)disassembly;
    return false;
}
