/* SPDX-License-Identifier: MIT */
#include "annotate/disassembler_parts.h"

#include <elf.h>

static bool is_x86(uint16_t machine)
{
    return machine == EM_X86_64 || machine == EM_386;
}

void disassembler_prepare(void)
{
    zydis_prepare();
    capstone_prepare();
}

const char *disassembler_gap(uint16_t machine)
{
    if (is_x86(machine))
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
    return is_x86(disassembly->machine) ? zydis_disassemble(disassembly)
                                        : capstone_disassemble(disassembly);
}

const char *disassembler_machine_name(uint16_t machine)
{
    static const struct {
        uint16_t machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86_64"}, {EM_386, "i386"},      {EM_AARCH64, "aarch64"},
                 {EM_ARM, "arm"},       {EM_RISCV, "riscv64"}, {EM_PPC64, "ppc64le"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].machine == machine)
            return names[i].name;
    return "unknown";
}
