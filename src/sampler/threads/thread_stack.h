/* SPDX-License-Identifier: MIT */
/* Stacks of new threads: the part that the walker may read, and room for a sample. Hooks:
 * swapcontext(), setcontext(). */
#pragma once

#include "sampler/base/hook.h"
#include "sampler/base/state.h"

#include <ucontext.h>

HOOK int swapcontext(ucontext_t *from, const ucontext_t *to);
HOOK int setcontext(const ucontext_t *context);

/* The same attributes with room for samples; false when the given attributes are sufficient. Not
 * async-signal-safe. */
bool thread_stack_enlarge(const pthread_attr_t *attributes, pthread_attr_t *larger);
/* Notes the stack that the attributes of a new thread request. Not async-signal-safe. */
void thread_stack_note(struct thread_state *thread, const pthread_attr_t *attributes,
                       uint64_t default_bytes);
/* Sets the readable part of the calling thread's stack. Not async-signal-safe. */
void thread_stack_set_range(struct thread_state *thread);
