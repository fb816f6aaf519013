/* SPDX-License-Identifier: MIT */
#include "record/launch/probe.h"

#include "record/launch/perf_event.h"
#include "record/perf_ring/thread_events.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int read_paranoid(void)
{
    char text[16];
    int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -2;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (length <= 0)
        return -2;
    text[length] = '\0';
    return (int)strtol(text, NULL, 10);
}

/* The kernel runs CPU timers from the tick, and the coarse clock advances once a tick. */
static uint32_t tick_hz(void)
{
    struct timespec resolution;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) != 0 || resolution.tv_nsec == 0)
        return 0;
    return (uint32_t)(1000000000 / resolution.tv_nsec);
}

static void explain(int err, int paranoid, char *reason, size_t size)
{
    if (err == -EACCES || err == -EPERM)
        snprintf(reason, size, "perf events are forbidden (kernel.perf_event_paranoid is %d)",
                 paranoid);
    else if (err == -EINVAL || err == -E2BIG)
        snprintf(reason, size, "the kernel is older than 5.18");
    else
        snprintf(reason, size, "perf events are not available: %s", strerror(-err));
}

static void probe_ring(struct record_probe *probe)
{
    int err = thread_events_probe();
    probe->perf_ring = err == 0;
    if (err)
        explain(err, probe->perf_event_paranoid, probe->perf_ring_reason,
                sizeof(probe->perf_ring_reason));
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
    *probe = (struct record_probe){.tick_hz = tick_hz(),
                                   .rate_limit = perf_event_rate_limit(),
                                   .perf_event_paranoid = read_paranoid()};
    int fd = perf_event_probe();
    probe->perf_trap = fd >= 0;
    if (fd >= 0)
        close(fd);
    else
        explain(fd, probe->perf_event_paranoid, probe->perf_trap_reason,
                sizeof(probe->perf_trap_reason));
    probe_ring(probe);
    probe_timer(probe);
    probe->kernel_stacks = geteuid() == 0 || probe->perf_event_paranoid < 2;
}
