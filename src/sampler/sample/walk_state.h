/* SPDX-License-Identifier: MIT */
/* A walk in progress, shared by walk.c and stack_copy.c. */
#pragma once

#include "sampler/base/state.h"

#include <ucontext.h>

struct walk {
    struct thread_state *thread;
    const ucontext_t *context;
    struct ring *ring;                  /* of the record; usually the thread's */
    const struct record_object *object; /* NULL: none */
    const struct wire_module *modules;
    uint32_t module_count;
    uint32_t map_tag;              /* of this map in the cache: see walk_once() */
    uint32_t unload_count;         /* before the walk */
    struct unwind_regs leaf, regs; /* interrupted; of the present frame */
    struct stack_view stack;
    bool is_foreign; /* an unknown stack: only the page of SP may be read */
    bool is_context; /* the stack was given to makecontext() */
    bool is_return_address;
    uint32_t frame_count; /* all frames, kept or not; after the walk, the kept ones */
    uint32_t dropped;     /* after the walk: between the leaf part and the root part */
    enum walk_end end;    /* after the walk */
    uint64_t *frames;     /* frames_max of them, in the reserved record */
    uint32_t frames_max;
};
