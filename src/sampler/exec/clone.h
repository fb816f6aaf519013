/* SPDX-License-Identifier: MIT */
/* Processes made by clone(), in new namespaces for example: they join as forked children do.
 * Hook: clone(). */
#pragma once

#include "sampler/base/hook.h"

#include <stdbool.h>

/* The C library declares clone() with "..."; the hook passes all possible arguments on. */
HOOK int clone_hook(int (*run)(void *), void *stack, int flags, void *argument, void *parent_tid,
                    void *tls, void *child_tid) __asm__("clone");

/* Whether a bare system call makes a process as fork() does, with a return on a copy of the same
 * stack. Async-signal-safe. */
bool clone_is_fork(long number, long flags, long stack);
