/* SPDX-License-Identifier: MIT */
/*
 * Records written by hooks, outside of the signal handler. The hook takes the thread's state as the
 * handler does: a signal meanwhile adds its weight to the next sample.
 */
#pragma once

#include "sampler/base/state.h"

/* Writes an event of weight 1 with the calling thread's stack into the ring: the thread's own, or
 * the ring of a thread that does not run yet. */
void hook_record_stack(struct ring *ring, enum record_event event,
                       const struct record_object *object);

/* RECORD_NAME in the calling thread's ring. */
void hook_record_name(uint32_t slot, const char *name);
