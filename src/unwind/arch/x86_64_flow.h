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

#include "unwind/arch/x86_64_effect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
};

/* 0 or -ENOMEM. code and starts are set. */
int x86_64_flow_open(struct flow *flow);
void x86_64_flow_close(struct flow *flow);

/* Follows the function that starts at the byte. False: refused, and no state was changed. */
bool x86_64_flow_follow(struct flow *flow, size_t start);

/* Takes back the states of the function followed last. */
void x86_64_flow_forget(struct flow *flow);
