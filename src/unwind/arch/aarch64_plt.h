/* SPDX-License-Identifier: MIT */
/*
 * CFI for aarch64's procedure linkage table: linkers write none, other than for x86-64. A stub
 * leaves the return address in lr; only the first entry, for lazy binding, pushes:
 *
 *     .plt      stp x16, x30, [sp, #-16]!      CFA = sp, then sp + 16 with x30 at CFA - 8
 *               …
 *     .plt+32   adrp x16, …; ldr x17, …        CFA = sp, x30 unchanged, up to the end
 */
#pragma once

#include "base/containers/buffer.h"
#include "elf/elf_file.h"

/* See add_plt_cfi in machine.h. */
void aarch64_plt_add_cfi(struct buffer *debug_frame, const struct elf_file *elf);
