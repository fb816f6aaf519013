/* SPDX-License-Identifier: MIT */
/* The code of PLT stubs, see symbols/symtab/plt.h. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct plt_stubs {
    uint16_t elf_machine;
    size_t alignment; /* 0: the section's entry size */
    /* The slot of the stub at svma, and the stub's size; 0: not a stub (the first entry of .plt,
     * and all other entries if the real stubs are in .plt.sec). */
    uint64_t (*slot)(const uint8_t *bytes, size_t size, uint64_t svma, size_t *stub_bytes);
};

/* NULL: the stubs of the machine are not read. */
const struct plt_stubs *plt_stubs_of(uint16_t elf_machine);
