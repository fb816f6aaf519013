/* SPDX-License-Identifier: MIT */
/* The registers of the CFI evaluator. */
#pragma once

#include <stdint.h>

/* DWARF register numbers of x86-64: 0 rax 1 rdx 2 rcx 3 rbx 4 rsi 5 rdi 6 rbp 7 rsp 8-15 r8-r15, 16
 * the return address column, for the PC. */
enum { UNWIND_DWARF_REGS = 17, UNWIND_DWARF_FP = 6, UNWIND_DWARF_SP = 7, UNWIND_DWARF_PC = 16 };

struct full_regs {
    uint64_t value[UNWIND_DWARF_REGS];
    uint32_t known;     /* bit i: value[i] is valid */
    uint32_t transient; /* bit i: value[i] is valid in this frame only, not in the callers */
};
