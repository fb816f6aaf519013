/* SPDX-License-Identifier: MIT */
#include "unwind/arch/machine.h"

#include "arch/machines.h"
#include "arch/own.h"

#include <stddef.h>

static const struct unwind_machine *const machines[] = {&unwind_x86_64, &unwind_aarch64};
enum { MACHINES = sizeof(machines) / sizeof(machines[0]) };

const struct unwind_machine *unwind_machine_of_name(const char *name)
{
    const struct machine *machine = machine_of_name(name);
    return machine ? unwind_machine_of_elf(machine->elf_machine) : NULL;
}

const struct unwind_machine *unwind_machine_of_elf(uint16_t elf_machine)
{
    for (size_t i = 0; i < MACHINES; i++)
        if (machines[i]->elf_machine == elf_machine)
            return machines[i];
    return NULL;
}

const struct unwind_machine *unwind_machine_own(void)
{
    return unwind_machine_of_elf(ARCH_ELF_MACHINE);
}

uint64_t unwind_machine_register(const struct unwind_machine *machine, uint64_t dwarf_number)
{
    if (!machine || !machine->registers)
        return dwarf_number < UNWIND_DWARF_REGS ? dwarf_number : UNWIND_DWARF_REGS;
    bool is_followed =
        dwarf_number < machine->register_count && machine->registers[dwarf_number] >= 0;
    return is_followed ? (uint64_t)machine->registers[dwarf_number] : UNWIND_DWARF_REGS;
}

bool unwind_machine_captured(const struct unwind_machine *machine, struct full_regs *regs,
                             uint64_t mask, const uint64_t *values)
{
    *regs = (struct full_regs){0};
    for (size_t bit = 0; bit < machine->captured_count; bit++) {
        if (!(mask >> bit & 1))
            continue;
        uint64_t value = *values++;
        int8_t number = machine->captured[bit];
        if (number < 0)
            continue;
        regs->value[number] = value;
        regs->known |= 1u << number;
    }
    const uint32_t needed = 1u << UNWIND_DWARF_PC | 1u << UNWIND_DWARF_SP;
    return (regs->known & needed) == needed;
}
