/* SPDX-License-Identifier: MIT */
/*
 * No wake-up is lost without a lock around the counters, because each side writes its own word
 * before reading the other's (sequentially consistent atomics):
 *
 *     owner, submit    given += n          then reads is_asleep
 *     helper, sleep    is_asleep = true    then reads given, under the lock
 *     helper, item     *left -= 1          then reads is_waited_for
 *     owner, wait      is_waited_for       then reads *left, under the lock
 */
#include "base/helper_thread.h"

#include <sched.h>

enum { TURNS_MOST = 64 }; /* spins before sleeping: about 20 us, the time of a wake-up */

bool helper_thread_claim(struct helper_thread *helper, uint64_t *piece)
{
    *piece = helper->begun;
    while (*piece < helper->given)
        if (atomic_compare_exchange_weak(&helper->begun, piece, *piece + 1))
            return true;
    return false;
}

static void wake(struct helper_thread *helper, pthread_cond_t *sleeper)
{
    pthread_mutex_lock(&helper->lock);
    pthread_cond_signal(sleeper);
    pthread_mutex_unlock(&helper->lock);
}

/* Returns false when the helper has to end. */
static bool sleep_until_given(struct helper_thread *helper)
{
    pthread_mutex_lock(&helper->lock);
    helper->is_asleep = true;
    while (!helper->ends && helper->begun == helper->given)
        pthread_cond_wait(&helper->more, &helper->lock);
    helper->is_asleep = false;
    bool goes_on = !helper->ends;
    pthread_mutex_unlock(&helper->lock);
    return goes_on;
}

static void *work(void *context)
{
    struct helper_thread *helper = context;
    uint64_t piece;
    do {
        while (helper_thread_claim(helper, &piece)) {
            helper->run(helper->context, piece);
            if (helper->is_waited_for)
                wake(helper, &helper->done);
        }
    } while (sleep_until_given(helper));
    return NULL;
}

void helper_thread_start(struct helper_thread *helper)
{
    if (helper->is_started)
        return;
    pthread_mutex_init(&helper->lock, NULL);
    pthread_cond_init(&helper->more, NULL);
    pthread_cond_init(&helper->done, NULL);
    helper->is_started = pthread_create(&helper->thread, NULL, work, helper) == 0;
}

void helper_thread_submit(struct helper_thread *helper, uint64_t count, uint64_t few)
{
    helper->given += count;
    if (helper->is_asleep && helper->given - helper->begun > few)
        wake(helper, &helper->more);
}

static void sleep_until_done(struct helper_thread *helper, const _Atomic size_t *left)
{
    pthread_mutex_lock(&helper->lock);
    helper->is_waited_for = true;
    while (*left)
        pthread_cond_wait(&helper->done, &helper->lock);
    helper->is_waited_for = false;
    pthread_mutex_unlock(&helper->lock);
}

void helper_thread_wait(struct helper_thread *helper, const _Atomic size_t *left)
{
    uint64_t piece;
    while (*left && helper_thread_claim(helper, &piece))
        helper->run(helper->context, piece);
    for (int turn = 0; *left && turn < TURNS_MOST; turn++)
        sched_yield();
    if (*left)
        sleep_until_done(helper, left);
}

static void end_thread(struct helper_thread *helper)
{
    pthread_mutex_lock(&helper->lock);
    helper->ends = true;
    pthread_cond_signal(&helper->more);
    pthread_mutex_unlock(&helper->lock);
    pthread_join(helper->thread, NULL);
    pthread_cond_destroy(&helper->more);
    pthread_cond_destroy(&helper->done);
    pthread_mutex_destroy(&helper->lock);
}

void helper_thread_stop(struct helper_thread *helper)
{
    uint64_t piece;
    while (helper_thread_claim(helper, &piece))
        ;
    if (helper->is_started)
        end_thread(helper);
    *helper = (struct helper_thread){.run = helper->run, .context = helper->context};
}
