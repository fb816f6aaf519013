/* SPDX-License-Identifier: MIT */
/* What an instruction does to the stack pointer, and to the frame pointer of the caller. */
#pragma once

#include "unwind/arch/x86_64_instruction.h"

#include <stdbool.h>
#include <stdint.h>

enum flow_kind {
    FLOW_UNKNOWN, /* not reached */
    FLOW_INSIDE,  /* of an instruction */
    FLOW_AT,      /* the start of an instruction */
};

enum { FLOW_BY_FP = -1 }; /* SP is not known: alloca(), or a realigned stack */

struct flow_state {
    int32_t depth;    /* bytes pushed since the entry, or FLOW_BY_FP */
    int16_t fp_depth; /* the same where FP points; 0: FP is not a frame pointer */
    uint8_t fp_word;  /* the caller's FP is at CFA - 8 * fp_word; 0: unchanged */
    uint8_t kind;     /* enum flow_kind */
};

/* Changes the state to the one behind the instruction, which neither calls nor jumps. False: beyond
 * this analysis. */
bool x86_64_effect(struct flow_state *state, const struct instruction *in);
