/* SPDX-License-Identifier: MIT */
/* What an instruction does to the stack pointer, and to the frame pointer of the caller. */
#pragma once

#include "unwind/arch/x86_64_instruction.h"
#include "unwind/code/code_flow.h"

/* Changes the state to the one behind the instruction, which neither calls nor jumps. False: beyond
 * this analysis. */
bool x86_64_effect(struct flow_state *state, const struct instruction *in);
