/* SPDX-License-Identifier: MIT */
/*
 * A second thread for small work items, run in submission order. The owner runs items itself
 * instead of waiting idle.
 *
 *     owner    helper_thread_submit(4) ── other work ── helper_thread_wait() ┤ item 2 ├─ done ─▶
 *     helper   ─────────────▶ item 0 ├ item 1     ├ item 3     ├
 *
 * A short queue does not wake the helper: waking an idle processor takes as long as several items.
 * If the thread cannot be started, helper_thread_wait() runs every item. All functions are for the
 * owner thread only.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct helper_thread {
    void (*run)(void *context, uint64_t piece); /* set by the owner */
    void *context;                 /* set by the owner; all other members start as zeros */
    _Atomic uint64_t given, begun; /* items so far */
    _Atomic bool is_asleep;        /* the helper */
    _Atomic bool is_waited_for;
    bool ends;
    bool is_started;
    pthread_t thread;
    pthread_mutex_t lock; /* protects both condition variables */
    pthread_cond_t more, done;
};

/* Starts the helper. On failure the owner runs all items. */
void helper_thread_start(struct helper_thread *helper);
/* Submits count items. The helper sees all earlier writes of the owner. A sleeping helper is
 * woken only if more than `few` items are pending. */
void helper_thread_submit(struct helper_thread *helper, uint64_t count, uint64_t few);
/* Returns once *left is 0; each item decrements the counter at its end. The owner then sees all
 * writes of the items. */
void helper_thread_wait(struct helper_thread *helper, const _Atomic size_t *left);
/* Claims the next pending item for the caller. False: no item is pending. */
bool helper_thread_claim(struct helper_thread *helper, uint64_t *piece);
/* Ends the helper and drops pending items. Item numbers start at 0 again. */
void helper_thread_stop(struct helper_thread *helper);
