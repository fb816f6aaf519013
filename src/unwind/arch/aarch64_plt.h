/* SPDX-License-Identifier: MIT */
/*
 * Linkers write call frame information for the stubs of x86-64's procedure linkage table, and none for
 * aarch64's. There a stub leaves everything as the call made it, so the return address is still in lr; only the
 * first entry, which looks a function up at its first call, pushes:
 *
 *     .plt      stp x16, x30, [sp, #-16]!      CFA = sp, then sp + 16 with x30 at CFA - 8
 *               …
 *     .plt+32   adrp x16, …; ldr x17, …        CFA = sp, x30 as it is, to the end
 */
#pragma once

#include "base/containers/buffer.h"
#include "elf/elf_file.h"
#include "unwind/arch/machine.h"

/* Adds what is missing for `.plt` to a .debug_frame, which may be empty; on machines with no such register,
 * nothing. Running out of memory is the buffer's. */
void aarch64_plt_add_cfi(struct buffer *debug_frame, const struct elf_file *elf,
                         const struct unwind_machine *machine);
