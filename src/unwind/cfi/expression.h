/* SPDX-License-Identifier: MIT */
/* DWARF expressions, as far as call frame information uses them: a stack machine over the registers
 * and the readable part of the stack. */
#pragma once

#include "unwind/arch/machine.h"
#include "unwind/module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an expression reads. Its operations have the register numbers of the machine. */
struct frame_state {
    const struct full_regs *regs;
    const struct stack_view *stack;
    const struct unwind_machine *machine; /* NULL: x86-64 */
};

/* True and the value on top of the stack in the end. initial, when not NULL, is pushed first (the CFA,
 * for rules of registers). False: malformed, too long, or needs a register that is not known or memory
 * outside the view. */
bool expression_evaluate(const uint8_t *bytes, size_t size, const struct frame_state *frame,
                         const uint64_t *initial, uint64_t *value);
