/* SPDX-License-Identifier: MIT */
/*
 * Threads: a slot and a ring from before the first instruction of the program's start routine until
 * after its last destructor. Hooks: pthread_create(), thrd_create().
 *
 *     creator:  pthread_create, thrd_create ─ claim slot ─ C library's function, with thread_main
 *     thread:   thread_main ─ bind ─ timer ─ start routine ─ destructors ─ thread_end ─ slot ENDED
 *     launcher: drains the ring ─ slot FREE
 */
#pragma once

#include "sampler/base/hook.h"
#include "sampler/base/state.h"

#include <threads.h>

HOOK int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                        void *argument);
HOOK int thrd_create(thrd_t *thread, thrd_start_t start, void *argument);

/* A free slot, or NULL. Not async-signal-safe. */
struct thread_state *thread_claim(void);
/* Gives back an unused slot. Not async-signal-safe. */
void thread_unclaim(struct thread_state *thread);
/* Gives the slot to the launcher, after the thread's last record. Async-signal-safe. */
void thread_finish(struct thread_state *thread);
/* Makes the state the calling thread's: signals use the state from now on. Not async-signal-safe.
 * */
void thread_bind(struct thread_state *thread);
