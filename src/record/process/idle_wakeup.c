/* SPDX-License-Identifier: MIT */
#include "record/process/idle_wakeup.h"

#include "record/launch/launch.h"
#include "wire/atomic.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#ifndef SIGEV_THREAD_ID
#define SIGEV_THREAD_ID 4
#endif

/* For the signal handler. */
static uint32_t *doorbell;

/* The collector waits for a change of this word: it wakes up, or does not fall asleep.
 * Async-signal-safe. */
static void ring(int number)
{
    (void)number;
    add_release(doorbell, 1);
}

bool idle_wakeup_prepare(uint32_t *word)
{
    doorbell = word;
    struct sigaction action = {.sa_handler = ring};
    sigset_t blocked; /* the parent of rec may have blocked the signal */
    sigemptyset(&blocked);
    sigaddset(&blocked, LAUNCH_WAKE_SIGNAL);
    return sigaction(LAUNCH_WAKE_SIGNAL, &action, NULL) == 0 &&
           pthread_sigmask(SIG_UNBLOCK, &blocked, NULL) == 0;
}

/* The C library has no public name for the field of the thread id (timer_create(2):
 * sigev_notify_thread_id). */
static bool make_timer(struct process *process)
{
    clockid_t clock;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = LAUNCH_WAKE_SIGNAL};
    event._sigev_un._tid = gettid();
    if (clock_getcpuclockid(process->pid, &clock) == 0 &&
        timer_create(clock, &event, &process->wake_timer) == 0)
        process->has_wake_timer = true;
    return process->has_wake_timer;
}

bool idle_wakeup_arm(struct process_table *processes, uint64_t period_ns)
{
    /* Two periods: the first sample comes after one, so the woken collector finds a record. */
    uint64_t enough_ns = 2 * period_ns;
    struct itimerspec setting = {.it_value = {.tv_sec = (time_t)(enough_ns / 1000000000),
                                              .tv_nsec = (long)(enough_ns % 1000000000)}};
    for (size_t i = 0; i < processes->live_count; i++) {
        struct process *process = process_table_at(processes, i);
        if (process->has_ended || process->engine == ENGINE_NONE)
            continue;
        if ((!process->has_wake_timer && !make_timer(process)) ||
            timer_settime(process->wake_timer, 0, &setting, NULL) != 0)
            return false;
    }
    return true;
}

void idle_wakeup_forget(struct process *process)
{
    if (process->has_wake_timer)
        timer_delete(process->wake_timer);
    process->has_wake_timer = false;
}
