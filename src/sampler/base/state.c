/* SPDX-License-Identifier: MIT */
#include "sampler/base/state.h"

static uint32_t never_alive;

struct process process;
uint32_t *process_alive = &never_alive;
__thread struct thread_state *thread_self;
