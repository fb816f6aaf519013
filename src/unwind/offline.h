/* SPDX-License-Identifier: MIT */
/*
 * The offline unwinder: frames from captured registers, stack bytes and the map of the modules. For
 * stacks that rows in the sampler could not finish, and for captures of registers and stack.
 * Launcher side; has no threads, may be called from any thread.
 */
#pragma once

#include "unwind/offline_frames.h"
#include "unwind/offline_map.h"
#include "unwind/offline_step.h"

enum offline_end {
    OFFLINE_ROOT,      /* a frame with undefined return address */
    OFFLINE_CUT,       /* the captured bytes end before the stack does */
    OFFLINE_NO_CFI,    /* a PC without CFI, and no valid frame-pointer step */
    OFFLINE_NO_CODE,   /* the same, but the frame pointer leads out of all mappings */
    OFFLINE_UNMAPPED,  /* a PC outside every mapping */
    OFFLINE_TOO_DEEP,  /* more frames than room */
    OFFLINE_GUESS,     /* code without CFI, and a single caller that is no more than a guess */
    OFFLINE_NO_CALLER, /* the return address is 0, as on the stacks of most coroutines */
    OFFLINE_NO_FP,     /* of a look only: JIT code that sets up no frame pointer */
    OFFLINE_SIGNAL,    /* a signal handler on an alternate stack: the interrupted function has
                        * another stack */
};

struct offline_result {
    size_t frame_count;
    size_t dropped; /* frames left out between the leaf part and the root part */
    enum offline_end end;
    enum offline_end end_if_whole; /* if the stack has no more bytes than those given */
    struct cached_walk *walk;      /* cached from now on, or NULL; valid until the next walk */
    struct offline_callers searched;
    size_t verified;         /* innermost frames before a step by FP alone, or by the cache */
    bool root_is_in_code;    /* OFFLINE_ROOT: the machine code of the root ends the thread */
    size_t inferred_fps;     /* frames with an FP derived from the place of the return address */
    uint64_t interrupted_sp; /* of a frame interrupted on another stack by a signal; or 0 */
    size_t steps;            /* frames walked, not taken from the cache */
};

/* Writes the PCs, innermost first: regs' PC, then return addresses as on the stack (behind a signal
 * frame, the interrupted PC). Callers outside of all mappings are not written. */
struct offline_result offline_unwind_in(const struct offline_map *map, const struct full_regs *regs,
                                        bool first_is_return_address,
                                        const struct stack_view *stack,
                                        const struct offline_frames *frames);
