/* SPDX-License-Identifier: MIT */
/* The machines of ELF files. */
#pragma once

#include <stdint.h>

struct machine {
    uint16_t elf_machine; /* EM_* */
    const char *name;     /* as in uname */
    /* Relocation types; 0: neither code nor PLT of the machine is read. */
    uint32_t relative, jump_slot, glob_dat;
};

/* Never NULL: an unknown machine has the name "unknown". */
const struct machine *machine_of_elf(uint16_t elf_machine);
/* NULL: none. */
const struct machine *machine_of_name(const char *name);
