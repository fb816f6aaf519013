/* SPDX-License-Identifier: MIT */
/* DWARF expressions, as far as call frame information uses them: a stack machine over the registers
 * and the readable part of the stack. */
#pragma once

#include "unwind/module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True and the value on top of the stack in the end. initial, when not NULL, is pushed first (the CFA,
 * for rules of registers). False: malformed, too long, or needs a register that is not known or memory
 * outside the view. */
bool expression_evaluate(const uint8_t *bytes, size_t size, const struct full_regs *regs,
                         const struct stack_view *stack, const uint64_t *initial, uint64_t *value);
