/* SPDX-License-Identifier: MIT */
#pragma once

#include "sampler/base/state.h"

#include <ucontext.h>

/* Walks the interrupted stack and writes a record; true when committed. Async-signal-safe. */
bool walk_record(struct thread_state *thread, const ucontext_t *context, uint64_t ticks,
                 uint64_t weight_ns, uint8_t flags);
