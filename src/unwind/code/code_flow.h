/* SPDX-License-Identifier: MIT */
/*
 * The stack at each instruction of a function without CFI, along all paths through its code:
 *
 *     f:  push %rbp           0 bytes pushed    FP unchanged
 *         sub $16, %rsp       8                 FP at CFA - 16
 *         je 1f               24
 *         call g              24                a call returns with the same SP
 *     1:  add $16, %rsp       24                both paths agree, else f is refused
 *         pop %rbp            8
 *         ret                 0                 else f is refused
 *
 * A function is accepted as a whole: all paths can be decoded, agree where they meet, and leave
 * with nothing on the stack. So wrong starts, data, overlapping instructions and code with another
 * use of SP are refused. Behind a call, which may never return, only the path is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
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

struct flow {
    const uint8_t *code; /* borrowed */
    size_t bytes;
    uint64_t svma; /* of the code */
    /* Whether a function starts there, inside of the bytes or not. Firm: certainly. */
    bool (*starts)(void *context, int64_t at, bool *is_firm);
    void *context;
    struct flow_state *states; /* of each byte */
    uint32_t *reached;         /* instructions of the function under way */
    size_t reached_count;
    size_t steps; /* instructions followed, those of refused functions too; see flow_may_step() */
};

/* 0 or -ENOMEM. code and starts are set. */
int flow_open(struct flow *flow);
void flow_close(struct flow *flow);

/* Counts an instruction. A function is followed once or twice; of hostile starts, one at each byte,
 * each would be followed up to the end of the code, and refused. False: too many. */
bool flow_may_step(struct flow *flow);

/* Takes back the states of the function followed last, from the given instruction on. */
void flow_forget(struct flow *flow, size_t reached_before);
