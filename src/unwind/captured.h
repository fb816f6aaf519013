/* SPDX-License-Identifier: MIT */
/* Registers that the kernel captured with a sample, as the evaluator wants them. */
#pragma once

#include "unwind/module.h"

/* mask: a bit for each register of the kernel's perf_regs.h (64-bit ABI); values: theirs, in the order
 * of the bits. False: nothing can be unwound without PC and SP. */
bool captured_regs(struct full_regs *regs, uint64_t mask, const uint64_t *values);

/* The machine, as uname has it, whose registers these are. */
extern const char captured_machine[];
