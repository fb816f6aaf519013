/* SPDX-License-Identifier: MIT */
/*
 * The caller of code that was entered by a jump: a function sets up a frame, jumps, and the code
 * runs in this frame for long, as Haskell code in the frame of StgRun and traces of LuaJIT in the
 * frame of the interpreter:
 *
 *     stack                  code
 *     ┌──────────────┐
 *     │ SP           │
 *     │ 0x4030 bytes │       StgRun:  sub $0x4030, %rsp
 *     │              │                jmp *%rax
 *     │ 0x401234  ───┼─────▶ call StgRun
 *     └──────────────┘
 *
 * The call before the return address has to lead to a function that pushes exactly these bytes and
 * jumps through a register or memory, without any branch before: the stack holds stale return
 * addresses, too.
 */
#pragma once

#include "unwind/code/caller_search.h"

/* Evidence CALLER_PLAUSIBLE, CALLER_NONE, or, for code of a file, CALLER_BEYOND: the bytes of the
 * stack end before. Looks through 18 KiB of stack. */
struct caller entered_code_caller(const struct code_map *map, const struct stack_frame *callee,
                                  const struct stack_view *stack);
