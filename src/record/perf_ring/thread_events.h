/* SPDX-License-Identifier: MIT */
/*
 * The events of the perf-ring engine: one on each thread and processor, because the kernel maps no
 * ring for an inherited event without a processor. New threads and children inherit the events of
 * their creator. Closing the descriptors ends everything in the targets, also when rec is killed.
 */
#pragma once

#include "record/perf_ring/kernel_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Which tasks have the events besides the thread itself. */
enum event_reach { REACH_THREAD, REACH_PROCESS, REACH_CHILDREN };

struct thread_events {
    const struct kernel_ring *rings; /* one for each processor; borrowed */
    size_t ring_count;
    uint64_t period_ns;
    uint32_t stack_bytes;
    enum event_reach reach;
    bool exclude_kernel; /* kernel time is not sampled: the user may not */
    int *fds;            /* owned */
    size_t count, capacity;
};

/* Opens and starts the events of one thread. 0, or the kernel's negative errno: then the thread has
 * no event. */
int thread_events_open(struct thread_events *events, pid_t tid);
void thread_events_close(struct thread_events *events);

/* Whether rec may sample kernel time: an event on rec itself, closed at once. */
bool thread_events_may_sample_kernel(void);
