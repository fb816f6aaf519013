/* SPDX-License-Identifier: MIT */
#include "sampler/threads/timer.h"

#include "sampler/base/own_call.h"
#include "sampler/sample/own_signal.h"

static struct itimerspec interval_setting(void)
{
    const struct tables_header *header = &process.tables->header;
    uint64_t interval_ns =
        process.engine == ENGINE_TIMER ? header->period_ns : header->kernel_interval_ns;
    struct timespec interval = {.tv_sec = (time_t)(interval_ns / 1000000000),
                                .tv_nsec = (long)(interval_ns % 1000000000)};
    return (struct itimerspec){.it_interval = interval, .it_value = interval};
}

void timer_start(struct thread_state *thread)
{
    struct itimerspec setting = interval_setting();
    bool is_needed = process.tables->header.event == RECORD_EVENT_CPU &&
                     (setting.it_value.tv_sec | setting.it_value.tv_nsec) != 0;
    if (!is_needed || seccomp_forbids(CALLS_OF_TIMER) || load_relaxed(&process.is_retired))
        return;
    struct sigevent event = {0};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = process.signal;
    event.sigev_value.sival_ptr = (void *)(uintptr_t)&own_signal_timer_token;
    /* Older C libraries have no public name for the member with the thread id. */
    event._sigev_un._tid = (pid_t)thread->slot->tid;
    int32_t timer;
    if (raw_failed(own_syscall(TIMER_CREATE, CLOCK_THREAD_CPUTIME_ID, &event, &timer)))
        return;
    own_syscall(TIMER_SETTIME, timer, 0, &setting);
    exchange_acquire(&thread->timer, timer);
    if (load_relaxed(&process.is_retired)) /* timer_stop_all() may have missed this timer */
        timer_stop(thread);
}

/* The exchange lets only one of two callers delete the timer: the program may get the same id for
 * a timer of its own right after the first deletion. */
void timer_stop(struct thread_state *thread)
{
    int32_t timer = exchange_acquire(&thread->timer, -1);
    if (timer >= 0)
        own_syscall(TIMER_DELETE, timer);
}

void timer_stop_all(void)
{
    uint32_t used = load_relaxed(&process.slot->threads_used);
    for (uint32_t i = 0; i < used && i < SESSION_THREADS; i++)
        if (load_acquire(&process.memory->threads[i].slot.state) == THREAD_ACTIVE)
            timer_stop(thread_state_at(i));
}
