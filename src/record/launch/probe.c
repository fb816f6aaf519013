/* SPDX-License-Identifier: MIT */
#include "record/launch/probe.h"

#include "record/attach/refusal.h"
#include "record/launch/perf_event.h"
#include "record/perf_ring/thread_events.h"
#include "record/launch/kernel_access.h"
#include "record/procfs/sysctl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The kernel runs CPU timers from the tick, and the coarse clock advances once a tick. */
static uint32_t tick_hz(void)
{
    struct timespec resolution;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) != 0 || resolution.tv_nsec == 0)
        return 0;
    return (uint32_t)(1000000000 / resolution.tv_nsec);
}

static void explain(int err, char *reason, size_t size)
{
    if (err == -EINVAL || err == -E2BIG)
        snprintf(reason, size, "the kernel is older than 5.18");
    else if (err == -EACCES || err == -EPERM || err == -ENOSYS)
        snprintf(reason, size, "%s", refusal_of_rec(ACCESS_EVENTS, err).text);
    else
        snprintf(reason, size, "perf events are not available: %s", strerror(-err));
}

static void probe_ring(struct record_probe *probe)
{
    int err = thread_events_probe();
    probe->perf_ring = err == 0;
    if (err)
        explain(err, probe->perf_ring_reason, sizeof(probe->perf_ring_reason));
}

/* A CPU timer of the calling thread, never armed. */
static void probe_timer(struct record_probe *probe)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    probe->timer = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0;
    if (probe->timer)
        timer_delete(timer);
    else
        snprintf(probe->timer_reason, sizeof(probe->timer_reason), "timer_create: %s",
                 strerror(errno));
}

void record_probe(struct record_probe *probe)
{
    *probe =
        (struct record_probe){.tick_hz = tick_hz(),
                              .rate_limit = perf_event_rate_limit(),
                              .perf_event_paranoid = sysctl_kernel_read("perf_event_paranoid", -2)};
    int fd = perf_event_probe();
    probe->perf_trap = fd >= 0;
    if (fd >= 0)
        close(fd);
    else
        explain(fd, probe->perf_trap_reason, sizeof(probe->perf_trap_reason));
    probe_ring(probe);
    probe_timer(probe);
    probe->kernel_stacks = kernel_access_check(&probe->kernel_reason) == 0;
}
