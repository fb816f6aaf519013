/* SPDX-License-Identifier: MIT */
/*
 * Names for the stubs of calls into other libraries. A stub has no symbol; the name is in the
 * relocation of its slot:
 *
 *     .plt, .plt.sec, .plt.got                 .got
 *     endbr64                                  ┌────────┐     .rela.plt, .rela.dyn
 *     bnd jmp *disp(%rip)  ──────────────────▶ │ slot   │ ◀── JUMP_SLOT or GLOB_DAT, "memcpy"
 *                                              └────────┘
 *
 * This is x86-64; aarch64's stubs load the slot by adrp and ldr. No stubs on other machines.
 */
#pragma once

#include "symbols/symtab/symtab.h"

/* Adds "memcpy@plt" and so on; 0 or -ENOMEM. Damaged sections add nothing. */
int plt_add_symbols(struct symtab *symtab, Elf *elf);
