/* SPDX-License-Identifier: MIT */
/* Parts of the texts about waits. */
#pragma once

#include "profile/profile.h"
#include "profile/waits.h"

#include <stddef.h>

/* "2 threads: 7 main, 8 worker, and 3 more"; thread_at(context, i) gives the index of a thread. */
void wait_text_threads(const struct profile *profile, size_t count,
                       uint32_t (*thread_at)(const void *context, size_t index),
                       const void *context);

/* The stack without its synthetic leaf; PROFILE_NONE: nothing is left. */
uint32_t wait_text_stack(const struct profile *profile, uint32_t stack);

void wait_text_frames(const struct profile *profile, uint32_t stack, unsigned columns);

/* The innermost function outside of the kernel and the C library, else the innermost one; "": no
 * stack. */
const char *wait_text_place(const struct profile *profile, uint32_t stack);

/* "poll", "runnable: no processor", "unknown reason". */
const char *wait_text_reason(const struct profile_wait_reason *reason);
