/* SPDX-License-Identifier: MIT */
/*
 * The caller of a function without CFI, found by its return address on the stack. The return
 * address lies behind a call instruction, and a direct call names its target:
 *
 *     stack            code                          verdict
 *     ┌────────────┐
 *     │ local      │
 *     │ 0x401234 ──┼─▶ 0x40122f: call f             verified: the function that holds PC is f
 *     │ 0x402111 ──┼─▶ 0x40210f: call *%rbx         plausible where f's frame ends, else a guess
 *     │ 0x403008 ──┼─▶ 0x403003: call g             another function, unless g leads on to f
 *     └────────────┘
 *
 * Calls lead to f directly, through a PLT stub or slot of the global offset table, or through a
 * function with a tail call to f. Stale return addresses of earlier calls lie on stacks, too, so
 * the place where the prologue of f puts the return address comes first, then the frame pointer's,
 * then all words up to SEARCH_BYTES_MAX. The work is bounded whatever stack and code hold.
 */
#pragma once

#include "unwind/code/code_image.h"
#include "unwind/step.h"

enum { SEARCH_BYTES_MAX = 16 << 10 };

/* The code at an address of a process. */
struct code_place {
    const struct code_image *image;
    uint64_t bias; /* avma - svma */
};

struct code_map {
    /* False: no code is known there. */
    bool (*find)(void *context, uint64_t avma, struct code_place *place);
    void *context;
};

enum caller_evidence {
    CALLER_NONE,
    CALLER_GUESSED,   /* behind a call of unknown target, or to another function */
    CALLER_PLAUSIBLE, /* behind a call of unknown target, where the prologue puts it */
    CALLER_VERIFIED,  /* behind a call to this function, or interrupted by a signal */
    CALLER_IS_ROOT,   /* no caller: the entry point, or code that ends its thread */
};

struct stack_frame {
    struct unwind_regs regs;
    bool is_return_address; /* PC: of the instruction behind a call */
    bool fp_is_known;       /* else regs.fp is meaningless */
};

struct caller {
    enum caller_evidence evidence;
    struct stack_frame frame; /* its SP is the callee's CFA */
};

struct caller caller_search(const struct code_map *map, const struct stack_frame *callee,
                            const struct stack_view *stack);
