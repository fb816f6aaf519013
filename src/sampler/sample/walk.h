/* SPDX-License-Identifier: MIT */
#pragma once

#include "sampler/base/state.h"

#include <ucontext.h>

/* A stack of the calling thread, to be written with this header (without size and kind). */
struct walk_request {
    struct thread_state *thread;
    const ucontext_t *context;
    struct ring *ring; /* written by the calling thread alone */
    struct record_header header;
    const struct record_object *object; /* NULL: none */
};

/* Walks the stack and writes a record; true when committed. Async-signal-safe. */
bool walk_write(const struct walk_request *request);

/* The same for a CPU sample, into the thread's ring. Async-signal-safe. */
bool walk_record(struct thread_state *thread, const ucontext_t *context, uint64_t ticks,
                 uint64_t weight_ns, uint8_t flags);
