/* SPDX-License-Identifier: MIT */
/*
 * The caller of generated code interrupted outside of its frame. A function with frame pointers has
 * its caller's FP before it sets up its own, and again at its end, so a step by FP would leave the
 * caller out:
 *
 *     stack            code
 *     ┌────────────┐
 *     │ caller's FP│   f:  push %rbp
 *     │ 0x401234 ──┼─▶ PC: mov %rsp, %rbp       the caller is behind the call before 0x401234
 *     │            │
 *     │ FP         │   of the caller
 *     │ 0x402111 ──┼─▶ the caller's caller
 *     └────────────┘
 */
#pragma once

#include "unwind/code/caller_search.h"

/* Evidence CALLER_NONE: FP is the function's own, or code of a file. CALLER_PLAUSIBLE.
 * CALLER_BEYOND: no return address is where the code has it. */
struct caller outside_frame_caller(const struct code_map *map, const struct stack_frame *callee,
                                   const struct stack_view *stack);
