/* SPDX-License-Identifier: MIT */
#include "sampler/base/state.h"

static uint32_t never_alive;

struct process process;
/* For pthread_atfork(), in place of the compiler's start files; the library is never unloaded. */
__attribute__((visibility("hidden"))) void *__dso_handle;
uint32_t *process_alive = &never_alive;
__thread struct thread_state *thread_self;
