/* SPDX-License-Identifier: MIT */
#include "base/aside.h"

#include <sched.h>

enum { TURNS_MOST = 64 }; /* spins before sleeping: about 20 us, the time of a wake-up */

bool aside_take(struct aside *aside, uint64_t *piece)
{
    *piece = aside->begun;
    while (*piece < aside->given)
        if (atomic_compare_exchange_weak(&aside->begun, piece, *piece + 1))
            return true;
    return false;
}

static void wake(struct aside *aside, pthread_cond_t *sleeper)
{
    pthread_mutex_lock(&aside->lock);
    pthread_cond_signal(sleeper);
    pthread_mutex_unlock(&aside->lock);
}

/* Returns false when the helper has to end. */
static bool sleep_until_given(struct aside *aside)
{
    pthread_mutex_lock(&aside->lock);
    aside->is_asleep = true;
    while (!aside->ends && aside->begun == aside->given)
        pthread_cond_wait(&aside->more, &aside->lock);
    aside->is_asleep = false;
    bool goes_on = !aside->ends;
    pthread_mutex_unlock(&aside->lock);
    return goes_on;
}

static void *work(void *context)
{
    struct aside *aside = context;
    uint64_t piece;
    do {
        while (aside_take(aside, &piece)) {
            aside->run(aside->context, piece);
            if (aside->is_waited_for)
                wake(aside, &aside->done);
        }
    } while (sleep_until_given(aside));
    return NULL;
}

void aside_start(struct aside *aside)
{
    if (aside->is_started)
        return;
    pthread_mutex_init(&aside->lock, NULL);
    pthread_cond_init(&aside->more, NULL);
    pthread_cond_init(&aside->done, NULL);
    aside->is_started = pthread_create(&aside->thread, NULL, work, aside) == 0;
}

void aside_give(struct aside *aside, uint64_t count, uint64_t few)
{
    aside->given += count;
    if (aside->is_asleep && aside->given - aside->begun > few)
        wake(aside, &aside->more);
}

static void sleep_until_done(struct aside *aside, const _Atomic size_t *left)
{
    pthread_mutex_lock(&aside->lock);
    aside->is_waited_for = true;
    while (*left)
        pthread_cond_wait(&aside->done, &aside->lock);
    aside->is_waited_for = false;
    pthread_mutex_unlock(&aside->lock);
}

void aside_wait(struct aside *aside, const _Atomic size_t *left)
{
    uint64_t piece;
    while (*left && aside_take(aside, &piece))
        aside->run(aside->context, piece);
    for (int turn = 0; *left && turn < TURNS_MOST; turn++)
        sched_yield();
    if (*left)
        sleep_until_done(aside, left);
}

static void end_thread(struct aside *aside)
{
    pthread_mutex_lock(&aside->lock);
    aside->ends = true;
    pthread_cond_signal(&aside->more);
    pthread_mutex_unlock(&aside->lock);
    pthread_join(aside->thread, NULL);
    pthread_cond_destroy(&aside->more);
    pthread_cond_destroy(&aside->done);
    pthread_mutex_destroy(&aside->lock);
}

void aside_stop(struct aside *aside)
{
    uint64_t piece;
    while (aside_take(aside, &piece))
        ;
    if (aside->is_started)
        end_thread(aside);
    *aside = (struct aside){.run = aside->run, .context = aside->context};
}
