/* SPDX-License-Identifier: MIT */
/*
 * The perf-trap engine's event: opened by the launcher on a process of the recording, raising SIGTRAP in
 * whichever thread used up a period of CPU time, while in user mode.
 *
 * exclude_kernel for everybody, root too: a signal that becomes pending inside a system call can be
 * taken across exec and kill the new program, and cuts large reads short. remove_on_exec closes the gap
 * that is left. inherit_thread: threads yes, forked children no.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event {
    int *fds; /* one for each thread that existed when it was armed; owned */
    size_t count, capacity;
};

/* Opens, disabled, on every thread of the process; has_one_thread: on its only one. 0 or the kernel's
 * refusal. */
int perf_event_open(struct perf_event *armed, pid_t pid, bool has_one_thread, uint64_t period_ns,
                    uint64_t sig_data);
void perf_event_enable(const struct perf_event *armed);
/* CPU time that the event saw, all threads. */
uint64_t perf_event_count_ns(const struct perf_event *armed);
void perf_event_close(struct perf_event *armed);

/* More samples a second of one event than this, and the kernel drops the rest of a tick; 0: not known. */
uint32_t perf_event_rate_limit(void);

/* An event of the same kind on the caller itself, never enabled: tells whether it can be had, and keeps
 * the kernel's perf machinery switched on (the first event of an idle machine takes 7 to 27 ms).
 * A descriptor, or a negative errno. */
int perf_event_probe(void);
