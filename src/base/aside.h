/* SPDX-License-Identifier: MIT */
/*
 * A thread that does one thing at a time beside this one.
 *
 *     this thread   aside_do(read) ── other work ──── aside_wait() ─ what was read ─▶
 *     beside it     ─────────────▶ read ─────────────▶
 *
 * The thread begins with the first thing to do. Where there can be none, things are done at once. Used by one
 * thread.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

struct aside { /* zeros: nothing to do */
    pthread_t thread;
    sem_t given, done;
    void (*run)(void *context); /* NULL: to end */
    void *context;
    bool is_started, is_busy;
};

/* pre: nothing is under way. What was written before is seen by run. */
void aside_do(struct aside *aside, void (*run)(void *context), void *context);
/* Until what is under way is done; at once when nothing is. What run has written is seen. */
void aside_wait(struct aside *aside);
/* Waits, and ends the thread. */
void aside_stop(struct aside *aside);
