/* SPDX-License-Identifier: MIT */
/* A walk under way: between walk.c, which makes it, and stack_copy.c, which takes what it could not finish. */
#pragma once

#include "sampler/sampler.h"

struct walk {
    struct thread_state *thread;
    const ucontext_t *context;
    const struct wire_module *modules;
    uint32_t module_count;
    uint32_t generation; /* low half: tags the cache */
    struct unwind_regs regs;
    struct stack_view stack;
    bool is_foreign; /* of which only one page may be read */
    bool is_context; /* it was given to makecontext() */
    bool is_return_address;
    uint32_t frame_count; /* seen, also those that did not fit */
    uint64_t *frames;     /* RECORD_FRAMES_MAX, in the reserved record */
};

/* stack_copy.c */
/* Whether the stack can be copied from its leaf to its root. Async-signal-safe. */
bool stack_copy_fits_from_leaf(const struct walk *walk);
/* A RECORD_COPY or RECORD_CHECK: the frames so far, the registers and the stack. False: the ring is full.
 * Async-signal-safe. */
bool stack_copy_record(struct walk *walk, struct record_header header, enum walk_end end,
                       uint32_t unload_count);
