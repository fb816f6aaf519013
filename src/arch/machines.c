/* SPDX-License-Identifier: MIT */
#include "arch/machines.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

static const struct machine machines[] = {
    {EM_X86_64, "x86_64", R_X86_64_RELATIVE, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT},
    {EM_AARCH64, "aarch64", R_AARCH64_RELATIVE, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT},
    {EM_386, "i386", 0, 0, 0},
    {EM_ARM, "arm", 0, 0, 0},
    {EM_RISCV, "riscv64", 0, 0, 0},
    {EM_PPC64, "ppc64le", 0, 0, 0},
};
enum { MACHINES = sizeof(machines) / sizeof(machines[0]) };

const struct machine *machine_of_elf(uint16_t elf_machine)
{
    static const struct machine unknown = {.name = "unknown"};
    for (size_t i = 0; i < MACHINES; i++)
        if (machines[i].elf_machine == elf_machine)
            return &machines[i];
    return &unknown;
}

const struct machine *machine_of_name(const char *name)
{
    for (size_t i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}
