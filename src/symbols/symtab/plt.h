/* SPDX-License-Identifier: MIT */
/*
 * Names for the stubs through which calls into other libraries go. A stub has no symbol; its name
 * is that of the relocation of the slot it jumps through:
 *
 *     .plt, .plt.sec, .plt.got                 .got
 *     endbr64                                  ┌────────┐     .rela.plt, .rela.dyn
 *     bnd jmp *disp(%rip)  ──────────────────▶ │ slot   │ ◀── JUMP_SLOT or GLOB_DAT, "memcpy"
 *                                              └────────┘
 *
 * The picture is x86-64's; aarch64's stubs load the slot by adrp and ldr. Elsewhere nothing is added.
 */
#pragma once

#include "symbols/symtab/symtab.h"

/* Adds "memcpy@plt" and so on; 0 or -ENOMEM. Damaged sections add nothing. */
int plt_add_symbols(struct symtab *symtab, Elf *elf);
