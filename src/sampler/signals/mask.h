/* SPDX-License-Identifier: MIT */
/* The program's signal masks, without the block of the sampler's signal. Hooks: pthread_sigmask(),
 * sigprocmask(). */
#pragma once

#include "sampler/base/hook.h"
#include "sampler/base/state.h"

#include <ucontext.h>

HOOK int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
HOOK int sigprocmask(int how, const sigset_t *set, sigset_t *old);

/* Unblocks the sampler's signal in the calling thread, and keeps the block for the program to read.
 * Not async-signal-safe. */
void mask_hide(struct thread_state *thread);
/* Makes a hidden block real; true when there was a hidden block. Not async-signal-safe. */
bool mask_unhide(struct thread_state *thread);
/* The same after the last signal of the sampler, and removes pending signals of the sampler. Not
 * async-signal-safe. */
void mask_retire(struct thread_state *thread);
/* Before the creation of a thread without samples. Returns the mask before, for
 * kernel_mask_change(). Async-signal-safe. */
uint64_t mask_block_ours(void);
/* For a foreign signal: makes a hidden block real and sends the signal again. False when the
 * program does not block the signal. Async-signal-safe (makes system calls, as the emulation
 * needs). */
bool mask_defer(int signal, siginfo_t *info, void *context);
/* Whether the program blocks the sampler's signal in the interrupted code, by a hidden block.
 * Async-signal-safe. */
bool mask_hides_block_at(const ucontext_t *interrupted);
