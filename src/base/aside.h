/* SPDX-License-Identifier: MIT */
/*
 * A thread that does pieces of work beside this one, in the order in which they are given. This one helps where it would
 * have to wait.
 *
 *     this thread   aside_give(4) ── other work ── aside_wait() ┤ piece 2 ├─ what was done ─▶
 *     beside it     ─────────────▶ piece 0 ├ piece 1   ├ piece 3     ├
 *
 * It is not woken for few pieces: on a processor that idles, that takes as long as many of them. Without a thread, all is
 * done by waiting. Used by one thread.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aside {
    void (*run)(void *context, uint64_t piece); /* set by the user, as is … */
    void *context;                              /* … this. The rest, zeros: nothing to do */
    _Atomic uint64_t given, begun;              /* pieces, so far */
    _Atomic bool is_asleep;                     /* the thread */
    _Atomic bool is_waited_for;
    bool ends;
    bool is_started;
    pthread_t thread;
    pthread_mutex_t lock; /* of those who sleep */
    pthread_cond_t more, done;
};

/* There is a thread from now on. */
void aside_start(struct aside *aside);
/* count more pieces. What was written before is seen by run. few: of pieces that nobody has begun, too few to be woken for. */
void aside_give(struct aside *aside, uint64_t count, uint64_t few);
/* Until *left is 0, which pieces that were given count down at their end. What these have written is seen. */
void aside_wait(struct aside *aside, const _Atomic size_t *left);
/* Whether there was a piece that nobody had begun: it is not begun by others any more. */
bool aside_take(struct aside *aside, uint64_t *piece);
/* Ends the thread; what was not begun is not done. Pieces count from 0 again. */
void aside_stop(struct aside *aside);
