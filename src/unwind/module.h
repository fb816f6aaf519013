/* SPDX-License-Identifier: MIT */
/*
 * The unwind information of one ELF file, launcher side: all its rows for the sampler, single rules for the
 * offline unwinder, and the full CFI evaluator for whatever does not fit a row. Out of .eh_frame and .debug_frame;
 * .eh_frame_hdr is a hint, which may be missing or wrong.
 *
 * One thread at a time asks for rules, since a function's CFI is compiled when the first of its addresses is
 * asked for. All rows may be compiled by another one meanwhile.
 */
#pragma once

#include "base/text/error.h"
#include "elf/elf_file.h"
#include "unwind/registers.h"
#include "unwind/step.h"

#include <stddef.h>
#include <stdint.h>

struct unwind_module; /* opaque */
struct compiled_rows; /* compile.h */

/* debug: its separate debug file, for .debug_frame; NULL: there is none. A file without any CFI has no rules
 * (0 is returned). -ENOEXEC: not of a machine that machine.h knows; -EBADMSG: no FDE is sound (single malformed
 * ones are left out). */
int unwind_module_open(struct unwind_module **out, const struct elf_file *elf,
                       const struct elf_file *debug, struct error *error);
/* The same for whoever asks for single rules and steps only: in most files .eh_frame_hdr leads to their records, and the
 * others are not read. */
int unwind_module_open_sparse(struct unwind_module **out, const struct elf_file *elf,
                              const struct elf_file *debug, struct error *error);
/* The same for whoever asks for single rules and steps in one thread, and compiles the rows of pieces in another: see
 * pieces.h. */
int unwind_module_open_lazy(struct unwind_module **out, const struct elf_file *elf,
                            struct error *error);
void unwind_module_close(struct unwind_module *module);

/* The rows of [start, end), relative to base_svma: see compile_rows(). pre: not opened for few. */
int unwind_module_compile(const struct unwind_module *module, uint32_t start, uint64_t end,
                          struct compiled_rows *out);

uint64_t unwind_module_base_svma(const struct unwind_module *module);
/* From the base to the end of the last executable segment. */
uint32_t unwind_module_text_bytes(const struct unwind_module *module);
size_t unwind_module_fdes(const struct unwind_module *module);

/* The rule of an address relative to base_svma. */
uint32_t unwind_module_rule(const struct unwind_module *module, uint32_t relative);

/* Steps with the full evaluator: CFA expressions, register expressions, any register. lookup_svma is
 * the frame's PC (already less one for return addresses) less the bias. Results as unwind_apply();
 * UNWIND_COMPLEX: needs a register that is not known, or memory outside the view. *is_signal_frame: the
 * caller's PC is an interrupted instruction, not a return address. */
enum unwind_result unwind_module_step(const struct unwind_module *module, uint64_t lookup_svma,
                                      struct full_regs *regs, const struct stack_view *stack,
                                      bool *is_signal_frame);
