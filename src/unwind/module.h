/* SPDX-License-Identifier: MIT */
/*
 * The unwind information of an ELF file, launcher side: all rows for the sampler, single rules for
 * the offline unwinder, and the full CFI evaluator for code beyond rows. From .eh_frame and
 * .debug_frame; .eh_frame_hdr is a hint, maybe missing or wrong.
 *
 * Rules are for a single thread: a function's CFI is compiled at the first lookup. Another thread
 * may compile rows at the same time.
 */
#pragma once

#include "base/text/error.h"
#include "elf/elf_file.h"
#include "unwind/registers.h"
#include "unwind/step.h"

#include <stddef.h>
#include <stdint.h>

struct row_room;
struct unwind_module; /* opaque */
struct compiled_rows; /* compile.h */

/* debug: the separate debug file, for .debug_frame; NULL: none. A file without CFI has no rules
 * (returns 0). -ENOEXEC: an unsupported machine; -EBADMSG: no valid FDE (single malformed FDEs are
 * left out). */
int unwind_module_open(struct unwind_module **out, const struct elf_file *elf,
                       const struct elf_file *debug, struct error *error);
/* The same for single rules and steps only: in most files .eh_frame_hdr leads to the records
 * needed, and the other records are not read. */
int unwind_module_open_sparse(struct unwind_module **out, const struct elf_file *elf,
                              const struct elf_file *debug, struct error *error);
/* The same for single rules and steps in a thread, and compilation of pieces in another thread:
 * lazy_index.h. room: of all such rules, or NULL. -E2BIG: tables of more than bytes_max, not
 * read. */
int unwind_module_open_lazy(struct unwind_module **out, const struct elf_file *elf,
                            uint64_t bytes_max, struct row_room *room, struct error *error);
void unwind_module_close(struct unwind_module *module);

/* The rows of [start, end), relative to base_svma: see compile_rows(). pre: not opened for few. */
int unwind_module_compile(const struct unwind_module *module, uint32_t start, uint64_t end,
                          struct compiled_rows *out);

uint64_t unwind_module_base_svma(const struct unwind_module *module);
/* From the base to the end of the last executable segment. */
uint32_t unwind_module_text_bytes(const struct unwind_module *module);
size_t unwind_module_fdes(const struct unwind_module *module);
/* Of all tables read. */
size_t unwind_module_bytes(const struct unwind_module *module);

/* The rule of an address relative to base_svma. */
uint32_t unwind_module_rule(const struct unwind_module *module, uint32_t relative);

/* A step by the full evaluator: CFA and register expressions, any register. lookup_svma: the
 * frame's PC (less one for return addresses) less the bias. Results as unwind_apply();
 * UNWIND_COMPLEX: dependent on an unknown register, or on memory outside of the view.
 * *is_signal_frame: the caller's PC is an interrupted instruction instead of a return address. */
enum unwind_result unwind_module_step(const struct unwind_module *module, uint64_t lookup_svma,
                                      struct full_regs *regs, const struct stack_view *stack,
                                      bool *is_signal_frame);

/* Number of steps without a row because of the limit of full_rows.h. */
uint64_t unwind_module_refused_steps(const struct unwind_module *module);
