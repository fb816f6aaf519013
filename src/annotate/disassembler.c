/* SPDX-License-Identifier: MIT */
#include "annotate/disassembler.h"

#include "annotate/arch/libraries.h"

void disassembler_prepare(void)
{
    zydis_prepare();
    capstone_prepare();
}

const char *disassembler_gap(uint16_t machine)
{
    if (zydis_reads(machine))
        return zydis_is_there() ? NULL
                                : "Zydis (libzydis4.0) is missing, or was missing when rec was "
                                  "built (libzydis-dev)";
    return capstone_is_there() ? NULL
                               : "capstone (libcapstone4) is missing, or was missing when rec was "
                                 "built (libcapstone-dev)";
}

const char *disassemblers_missing(void)
{
    if (!zydis_is_built_in())
        return capstone_is_built_in() ? "Zydis" : "Zydis, capstone";
    return capstone_is_built_in() ? "" : "capstone";
}

bool disassemble(const struct disassembly *disassembly)
{
    return zydis_reads(disassembly->machine) ? zydis_disassemble(disassembly)
                                             : capstone_disassemble(disassembly);
}
