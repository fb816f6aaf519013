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
 *
 * Code of a JIT compiler may set up the frame itself, and align SP: the scheduler loop of Erlang,
 * from which the code of Erlang processes calls C (emit_process_main(), erts/emulator/beam/jit/x86/
 * process_main.cpp, OTP 25). The entry is read in the code, and the function called before the
 * return address ends with a tail call through a register:
 *
 *     stack            code
 *     ┌──────────────┐
 *     │ SP = 64 n    │ process_main (JIT):  sub $0x4110, %rsp
 *     │ 0x4110 bytes │                      and $-64, %rsp
 *     │ 0 to 63      │ process_main (C++):  …; pop %rbx; jmp *%rax
 *     │ 0x401234  ───┼─────▶ call process_main
 *     └──────────────┘
 */
#pragma once

#include "unwind/code/caller_search.h"

/* Evidence CALLER_PLAUSIBLE, CALLER_NONE, or, for code of a file, CALLER_BEYOND: the bytes of the
 * stack end before. Looks through 18 KiB of stack. */
struct caller entered_code_caller(const struct code_map *map, const struct stack_frame *callee,
                                  const struct stack_view *stack);
