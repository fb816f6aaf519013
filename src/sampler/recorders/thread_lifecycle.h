/* SPDX-License-Identifier: MIT */
/*
 * The recorder thread-lifecycle in the target: creation, names, join and detach of threads. Starts
 * and ends are known to every recording, see threads.h.
 *
 *     creator:  pthread_create ─ claim slot ─ lifecycle_created: the stack, as first record of the
 *               new thread's ring
 *     thread:   lifecycle_started: its handle into the record ─ slot ACTIVE, the launcher reads
 *     joiner:   pthread_join ─ the C library's function ─ stack and handle into its own ring
 *
 * The functions exist twice: thread_lifecycle_absent.c is the CPU recorder's, without effect.
 */
#pragma once

#include "sampler/base/hook.h"
#include "sampler/base/state.h"

#include <threads.h>
#include <time.h>

HOOK int pthread_join(pthread_t thread, void **result);
HOOK int pthread_tryjoin_np(pthread_t thread, void **result);
HOOK int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until);
HOOK int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
                              const struct timespec *until);
HOOK int thrd_join(thrd_t thread, int *result);
HOOK int pthread_detach(pthread_t thread);
HOOK int thrd_detach(thrd_t thread);
HOOK int pthread_setname_np(pthread_t thread, const char *name);

/* Writes the calling thread's stack into the ring of a claimed thread that does not run yet. */
void lifecycle_created(struct thread_state *created, const pthread_attr_t *attributes);
/* In the new thread, before its slot is ACTIVE. */
void lifecycle_started(struct thread_state *thread);
/* The calling thread has got this name. */
void lifecycle_named(const char *name);
