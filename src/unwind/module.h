/* SPDX-License-Identifier: MIT */
/*
 * The unwind information of one ELF file, launcher side: its rows for the sampler, and the full CFI
 * evaluator for whatever does not fit a row. Compiled from .eh_frame (through .eh_frame_hdr only as a
 * hint; it may be missing or wrong) and .debug_frame.
 *
 * Immutable once opened: may be used from several threads at once, unless it is opened for a few stacks. Never
 * includes anything of symbols.
 */
#pragma once

#include "base/error.h"
#include "elf/elf_file.h"
#include "unwind/step.h"

#include <stddef.h>
#include <stdint.h>

struct unwind_module; /* opaque */
struct compiled_rows; /* compile.h */

/* Compiles the file. A file without any CFI is a module with no rows (0 is returned).
 * -ENOEXEC: not an ELF file of this machine; -EBADMSG: the CFI is malformed as a whole (single
 * malformed FDEs are left out and counted). */
int unwind_module_open(struct unwind_module **out, const struct elf_file *elf, struct error *error);
/* For the offline unwinder: of any machine that it knows (machine.h), and with what stands in .debug_frame of
 * a separate debug file; NULL: there is none. Has no rows; a function's CFI is compiled when one of its addresses
 * is asked for, so one thread at a time. */
int unwind_module_open_offline(struct unwind_module **out, const struct elf_file *elf,
                               const struct elf_file *debug, struct error *error);
void unwind_module_close(struct unwind_module *module);

/* The rows of one that has none. Does not change it: the one thread that asks it for addresses may go on. 0 or
 * -ENOMEM. */
int unwind_module_compile(const struct unwind_module *module, struct compiled_rows *out);

/* Sorted by start, relative to base_svma; borrowed from the module. */
const struct row *unwind_module_rows(const struct unwind_module *module, size_t *count);
uint64_t unwind_module_base_svma(const struct unwind_module *module);

/* The rule of an address relative to base_svma, also where there are no rows. */
uint32_t unwind_module_rule(const struct unwind_module *module, uint32_t relative);

struct unwind_module_stats {
    size_t fdes;
    size_t bad_fdes;     /* malformed: left out */
    size_t complex_rows; /* rows of kind ROW_COMPLEX */
};
struct unwind_module_stats unwind_module_stats(const struct unwind_module *module);

/* The DWARF register numbers of x86-64: 0 rax 1 rdx 2 rcx 3 rbx 4 rsi 5 rdi 6 rbp 7 rsp 8-15 r8-r15,
 * 16 the return address column, which holds the PC. */
enum { UNWIND_DWARF_REGS = 17, UNWIND_DWARF_FP = 6, UNWIND_DWARF_SP = 7, UNWIND_DWARF_PC = 16 };

struct full_regs {
    uint64_t value[UNWIND_DWARF_REGS];
    uint32_t known; /* bit i: value[i] is known */
};

/* Steps with the full evaluator: CFA expressions, register expressions, any register. lookup_svma is
 * the frame's PC (already less one for return addresses) less the bias. Results as unwind_apply();
 * UNWIND_COMPLEX: needs a register that is not known, or memory outside the view. *is_signal_frame: the
 * caller's PC is an interrupted instruction, not a return address. */
enum unwind_result unwind_module_step(const struct unwind_module *module, uint64_t lookup_svma,
                                      struct full_regs *regs, const struct stack_view *stack,
                                      bool *is_signal_frame);
