/* SPDX-License-Identifier: MIT */
#include "base/aside.h"

#include <errno.h>
#include <stddef.h>

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        ;
}

static void *work(void *context)
{
    struct aside *aside = context;
    for (wait_for(&aside->given); aside->run; wait_for(&aside->given)) {
        aside->run(aside->context);
        sem_post(&aside->done);
    }
    return NULL;
}

static bool start(struct aside *aside)
{
    if (aside->is_started)
        return true;
    sem_init(&aside->given, 0, 0);
    sem_init(&aside->done, 0, 0);
    aside->is_started = pthread_create(&aside->thread, NULL, work, aside) == 0;
    return aside->is_started;
}

void aside_do(struct aside *aside, void (*run)(void *context), void *context)
{
    if (!start(aside)) {
        run(context);
        return;
    }
    aside->run = run;
    aside->context = context;
    aside->is_busy = true;
    sem_post(&aside->given);
}

void aside_wait(struct aside *aside)
{
    if (aside->is_busy)
        wait_for(&aside->done);
    aside->is_busy = false;
}

void aside_stop(struct aside *aside)
{
    if (!aside->is_started)
        return;
    aside_wait(aside);
    aside->run = NULL;
    sem_post(&aside->given);
    pthread_join(aside->thread, NULL);
    sem_destroy(&aside->given);
    sem_destroy(&aside->done);
    *aside = (struct aside){0};
}
