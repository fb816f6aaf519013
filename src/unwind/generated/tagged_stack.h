/* SPDX-License-Identifier: MIT */
/*
 * Callers on the stack of an Erlang process. The words are terms, with a tag other than 0 in the
 * two lowest bits, and return addresses, multiples of 4 (_CPMASK, erl_term.h; aligned_call() in
 * erts/emulator/beam/jit/x86/beam_asm.hpp, OTP 25). The garbage collector relies on these bits:
 *
 *     SP ─▶ term          fib
 *           0x…bdc   ───▶ behind a call: the caller's frame
 *           term
 *           0x…ba8   ───▶ behind a call
 *           0x…458   ───▶ not behind a call: the process ends there
 *
 * In the innermost frame terms may not be written yet, so the code states the place of the return
 * address.
 */
#pragma once

#include "unwind/code/caller_search.h"

/* For generated code of a runtime with an entry as in code_entry, on a stack made by the program.
 * Evidence CALLER_PLAUSIBLE, CALLER_IS_ROOT, CALLER_BEYOND or CALLER_NONE. */
struct caller tagged_stack_caller(const struct code_map *map, const struct stack_frame *callee,
                                  const struct stack_view *stack);
