/* SPDX-License-Identifier: MIT */
/*
 * The caller of a function without CFI, by the return address on the stack. A return address lies
 * behind a call instruction, and a direct call states its target:
 *
 *     stack            code                          evidence
 *     ┌────────────┐
 *     │ local      │
 *     │ 0x401234 ──┼─▶ 0x40122f: call f             verified, if PC is in f
 *     │ 0x402111 ──┼─▶ 0x40210f: call *%rbx         plausible at the end of f's frame, else a guess
 *     │ 0x403008 ──┼─▶ 0x403003: call g             a guess, unless g leads to f
 *     └────────────┘
 *
 * Calls lead to f directly, through a PLT stub or a slot of the global offset table, or through
 * functions with a tail call to f. Stacks also hold stale return addresses of earlier calls, so the
 * first place to look is where the prologue of f puts the return address, then by the frame
 * pointer, then all words up to SEARCH_BYTES_MAX. An address of unreadable code is plausible at the
 * first two places. Work is bounded, whatever stack and code hold.
 */
#pragma once

#include "unwind/code/code_map.h"
#include "unwind/code/evidence.h"
#include "unwind/registers.h"
#include "unwind/step.h"

enum { SEARCH_BYTES_MAX = 16 << 10 };

struct stack_frame {
    struct unwind_regs regs;
    bool is_return_address;             /* PC: of the instruction behind a call */
    bool fp_is_known;                   /* else regs.fp is meaningless */
    const struct full_regs *all;        /* of the same frame; NULL: no other registers are known */
    const struct full_regs *all_inside; /* the same of the function called here */
};

struct caller {
    enum caller_evidence evidence;
    struct stack_frame frame; /* SP is the callee's CFA */
};

/* Whether FP, of a frame that its function has set up, is far from the stack: the function then
 * continued on this stack, made by the program, as in SBCL. */
bool caller_is_on_another_stack(const struct code_map *map, const struct stack_view *stack,
                                uint64_t fp);

/* The same with the frame judged by the function's prologue. */
bool caller_has_come_from_another_stack(const struct code_map *map,
                                        const struct stack_frame *callee,
                                        const struct stack_view *stack);

struct caller caller_search(const struct code_map *map, const struct stack_frame *callee,
                            const struct stack_view *stack);

/* The same for a function with CFI: its start is known in files read in pieces, too. */
struct caller caller_search_of_fde(const struct code_map *map, const struct stack_frame *callee,
                                   const struct stack_view *stack);
