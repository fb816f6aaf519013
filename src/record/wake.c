/* SPDX-License-Identifier: MIT */
/*
 * Sleeping long while nothing runs. The handler makes no system call, so nobody rings when a process that
 * slept begins to fill its rings; looking often enough for the deepest stacks costs 2 ms CPU a second. So
 * each process gets a one-shot timer on its CPU clock, which anybody may set: the kernel rings when it has
 * used enough for a sample. It notices at its tick, at most two of them late.
 */
#include "record/collector_parts.h"

#include "record/launch.h"
#include "wire/atomic.h"

#include <signal.h>
#include <unistd.h>

#ifndef SIGEV_THREAD_ID
#define SIGEV_THREAD_ID 4
#endif

static uint32_t *doorbell;

/* The collector waits on this word: it wakes up, or does not fall asleep. */
static void ring(int number)
{
    (void)number;
    add_release(doorbell, 1);
}

bool wake_prepare(struct collector *collector)
{
    doorbell = &collector->session->rings->header.doorbell;
    struct sigaction action = {.sa_handler = ring};
    sigset_t blocked; /* by whoever started rec */
    sigemptyset(&blocked);
    sigaddset(&blocked, LAUNCH_WAKE_SIGNAL);
    return sigaction(LAUNCH_WAKE_SIGNAL, &action, NULL) == 0 &&
           pthread_sigmask(SIG_UNBLOCK, &blocked, NULL) == 0;
}

static bool make_timer(struct image *image)
{
    clockid_t clock;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = LAUNCH_WAKE_SIGNAL};
    event._sigev_un._tid = gettid();
    if (clock_getcpuclockid(image->pid, &clock) == 0 &&
        timer_create(clock, &event, &image->wake_timer) == 0)
        image->has_wake_timer = true;
    return image->has_wake_timer;
}

bool wake_arm(struct collector *collector)
{
    uint64_t enough_ns = 2 * collector->period_ns;
    struct itimerspec setting = {.it_value = {.tv_sec = (time_t)(enough_ns / 1000000000),
                                              .tv_nsec = (long)(enough_ns % 1000000000)}};
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        if (image->has_ended || image->engine == ENGINE_NONE)
            continue;
        if ((!image->has_wake_timer && !make_timer(image)) ||
            timer_settime(image->wake_timer, 0, &setting, NULL) != 0)
            return false;
    }
    return true;
}

void wake_forget(struct image *image)
{
    if (image->has_wake_timer)
        timer_delete(image->wake_timer);
    image->has_wake_timer = false;
}
