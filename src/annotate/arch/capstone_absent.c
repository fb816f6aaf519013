/* SPDX-License-Identifier: MIT */
/* In place of capstone.c where capstone was not there to build with. */
#include "annotate/arch/libraries.h"

void capstone_prepare(void)
{
}

bool capstone_is_there(void)
{
    return false;
}

bool capstone_is_built_in(void)
{
    return false;
}

bool capstone_disassemble(const struct disassembly *disassembly)
{
    (void)disassembly;
    return false;
}
