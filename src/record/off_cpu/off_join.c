/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_join.h"

#include "base/clock.h"
#include "record/procfs/proc.h"

#include <time.h>
#include <unistd.h>

static uint64_t cpu_time_ns(pthread_t thread)
{
    clockid_t clock;
    return pthread_getcpuclockid(thread, &clock) == 0 ? clock_ns(clock) : 0;
}

static bool is_runnable(pid_t tid)
{
    struct proc_stat stat;
    return proc_stat_read(&stat, getpid(), tid) == 0 && stat.state == 'R';
}

/* pthread_timedjoin_np() takes a time of CLOCK_REALTIME. */
static bool has_ended(pthread_t thread, uint64_t limit_ns)
{
    uint64_t until_ns = clock_ns(CLOCK_REALTIME) + limit_ns;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                                   .tv_nsec = (long)(until_ns % 1000000000)};
    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

bool off_join(pthread_t thread, pid_t tid, uint64_t limit_ns)
{
    uint64_t before_ns = cpu_time_ns(thread);
    while (!has_ended(thread, limit_ns)) {
        uint64_t now_ns = cpu_time_ns(thread);
        if (now_ns == before_ns && !is_runnable(tid))
            return false;
        before_ns = now_ns;
    }
    return true;
}
