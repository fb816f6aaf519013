/* SPDX-License-Identifier: MIT */
#include "sampler/base/state.h"

static uint32_t never_alive;

struct process process;
/* At the start of the data, in the file's part: see data.lds. */
__attribute__((section(".first_thread"), aligned(4096))) struct thread_state first_thread;
/* For pthread_atfork(), in place of the compiler's start files; the library is never unloaded. */
extern __attribute__((visibility("hidden"))) void *__dso_handle;
void *__dso_handle;
uint32_t *process_alive = &never_alive;
__thread struct thread_state *thread_self;
