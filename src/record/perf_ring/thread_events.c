/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/thread_events.h"

#include "base/containers/array.h"
#include "record/perf_ring/ring_record.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int open_event(struct perf_event_attr *attr, pid_t tid, int processor)
{
    long fd = syscall(SYS_perf_event_open, attr, tid, processor, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* sigtrap events deliver no samples to rings, so this event is separate from perf_event.c. */
static int open_sampler(const struct thread_events *events, const struct kernel_ring *ring,
                        pid_t tid)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = events->period_ns,
        .sample_type = RING_SAMPLE_TYPE,
        .sample_regs_user = RING_REGISTERS,
        .sample_stack_user = events->stack_bytes,
        .inherit = events->reach != REACH_THREAD,
        .inherit_thread = events->reach == REACH_PROCESS,
        .exclude_kernel = events->exclude_kernel,
        .exclude_hv = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .disabled = 1,
    };
    int fd = open_event(&attr, tid, (int)ring->processor);
    if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0) {
        int err = -errno;
        close(fd);
        return err;
    }
    return fd;
}

static void close_from(struct thread_events *events, size_t first)
{
    for (size_t i = first; i < events->count; i++)
        close(events->fds[i]);
    events->count = first;
}

int thread_events_open(struct thread_events *events, pid_t tid)
{
    size_t first = events->count;
    for (size_t i = 0; i < events->ring_count; i++) {
        int fd = open_sampler(events, &events->rings[i], tid);
        int *place = fd < 0 ? NULL : ARRAY_PUSH(events->fds, events->count, events->capacity);
        if (!place) {
            if (fd >= 0)
                close(fd);
            close_from(events, first);
            return fd < 0 ? fd : -ENOMEM;
        }
        *place = fd;
    }
    for (size_t i = first; i < events->count; i++)
        ioctl(events->fds[i], PERF_EVENT_IOC_ENABLE, 0);
    return 0;
}

void thread_events_close(struct thread_events *events)
{
    close_from(events, 0);
    free(events->fds);
    events->fds = NULL;
    events->capacity = 0;
}

bool thread_events_may_sample_kernel(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .disabled = 1};
    int fd = open_event(&attr, 0, -1);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}
