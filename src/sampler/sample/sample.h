/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>
#include <ucontext.h>

/* Takes a sample for a signal of the sampler, or counts the loss. Async-signal-safe. */
void sample_take(const siginfo_t *info, const ucontext_t *context);
