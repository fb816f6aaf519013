/* SPDX-License-Identifier: MIT */
/*
 * The event of the perf-trap engine. The launcher opens the event on a process of the recording; a
 * thread gets SIGTRAP in user mode after each period of CPU time.
 *
 * exclude_kernel, for root too: a signal pending inside a system call can be taken across exec and
 * kill the new program, and cuts large reads short. remove_on_exec closes the remaining gap.
 * inherit_thread: new threads inherit the event, forked children do not.
 */
#pragma once

#include "record/events/event_request.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event {
    int *fds; /* one for each thread at the time of perf_event_open(); owned */
    size_t count, capacity;
};

struct perf_event_config {
    uint64_t period_ns;                  /* of CPU time */
    const struct event_request *request; /* in place of CPU time; NULL: none */
    uint64_t sig_data;
};

/* Opens the event, disabled, on every thread of the process; has_one_thread: on the main thread
 * only. 0 or the kernel's negative errno. */
int perf_event_open(struct perf_event *event, pid_t pid, bool has_one_thread,
                    const struct perf_event_config *config);
void perf_event_enable(const struct perf_event *event);
/* CPU time counted by the event in all threads. */
uint64_t perf_event_count_ns(const struct perf_event *event);
void perf_event_close(struct perf_event *event);

/* The kernel's limit of samples per second and event: beyond the limit, the rest of a tick goes
 * unsampled. 0: unknown. */
uint32_t perf_event_rate_limit(void);

/* Opens an event of the same kind on the calling thread, never enabled. Shows whether perf-trap is
 * available, and keeps the kernel's perf machinery switched on (the first event of an idle machine
 * takes 7 to 27 ms). A descriptor, or a negative errno. */
int perf_event_probe(void);
