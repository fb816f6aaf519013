/* SPDX-License-Identifier: MIT */
#include "record/events/event_attr.h"

#include "record/perf_ring/rings/ring_record.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* With exclude_kernel the timer of a task clock leaves out samples in kernel mode
 * (perf_swevent_hrtimer() in kernel/events/core.c). */
struct perf_event_attr event_attr_clock(uint64_t period_ns)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period_ns,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
}

void event_attr_take_stacks(struct perf_event_attr *attr, uint32_t stack_bytes)
{
    attr->sample_type = RING_SAMPLE_TYPE;
    attr->sample_regs_user = RING_REGISTERS;
    attr->sample_stack_user = stack_bytes;
    attr->exclude_callchain_kernel = 1;
    attr->exclude_callchain_user = 1;
    /* Other records end with time and id, too: all records of all rings are merged by time. */
    attr->sample_id_all = 1;
    attr->use_clockid = 1;
    attr->clockid = CLOCK_MONOTONIC;
}

int event_open(struct perf_event_attr *attr, int task, int processor, unsigned long flags)
{
    flags |= PERF_FLAG_FD_CLOEXEC;
    long fd = syscall(SYS_perf_event_open, attr, task, processor, -1, flags);
    return fd < 0 ? -errno : (int)fd;
}
