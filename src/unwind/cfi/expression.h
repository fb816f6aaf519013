/* SPDX-License-Identifier: MIT */
/* DWARF expressions, as far as call frame information uses them: a stack machine over the registers
 * and the readable part of the stack. */
#pragma once

#include "unwind/arch/machine.h"
#include "unwind/module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of all expressions of a step: real ones have a dozen operations, and the frame of a signal three
 * dozen. Branches could make any expression run forever. */
#define EXPRESSION_OPERATIONS_MAX 256

/* Input of expressions. Register numbers are the machine's. */
struct frame_state {
    const struct full_regs *regs;
    const struct stack_view *stack;
    const struct unwind_machine *machine; /* NULL: x86-64 */
    uint32_t *operations_left;
};

/* True and the top of the stack at the end. initial, if not NULL, is pushed first (the CFA, for
 * rules of registers). False: malformed, too long, or dependent on an unknown register or on memory
 * outside of the view. */
bool expression_evaluate(const uint8_t *bytes, size_t size, const struct frame_state *frame,
                         const uint64_t *initial, uint64_t *value);
