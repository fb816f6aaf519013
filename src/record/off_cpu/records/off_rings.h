/* SPDX-License-Identifier: MIT */
/*
 * The kernel rings of switch records, one for each processor, and the events that write into them.
 * Records are read at every tick, or when a ring fills. While all threads of a program wait, a
 * second set of events with small rings wakes rec at the first record, in place of the ticks.
 */
#pragma once

#include "record/perf_ring/rings/ring_record.h"
#include "record/perf_ring/thread_events.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rings with the events that write into them, by children too. */
struct off_events {
    struct kernel_ring *rings; /* one for each processor; owned */
    size_t count;
    struct thread_events events;
    struct event_set *set;
};

struct off_rings {
    struct off_events records;
    struct off_events wakes; /* without rings: not used */
    bool are_wakes_on;
    struct pollfd *polled; /* the rings of both, and two more; owned */
};

/* 0 or a negative errno; off_rings_close() in any case. */
int off_rings_open(struct off_rings *rings, enum event_reach reach);
void off_rings_close(struct off_rings *rings);

/* The events of a thread that waits before its exec. 0, or the kernel's negative errno. */
int off_rings_await_exec(struct off_rings *rings, pid_t tid);

/* The events of a running thread. 0, or the kernel's negative errno. */
int off_rings_attach(struct off_rings *rings, pid_t tid);

/* The events of all tasks of the processors (REACH_SYSTEM), or of a cgroup; -1: none. 0, or the
 * kernel's negative errno. */
int off_rings_record_system(struct off_rings *rings, int cgroup_fd);

/* Ends the records of all threads; those in the rings stay. */
void off_rings_end(struct off_rings *rings);

/* Takes the records until now into view, and returns their time limit for off_rings_next(): the
 * order of the records of a thread is right up to this time. */
uint64_t off_rings_look(struct off_rings *rings);
/* The next record in the order of time; false: no more. Valid until the next call. */
bool off_rings_next(struct off_rings *rings, uint64_t until_ns, struct ring_record *record);

/* Whether the next record ends off_rings_wait(). False: not possible here. */
bool off_rings_wake(struct off_rings *rings, bool is_on);
/* Waits until a ring is filling, the eventfd is written to, a process has ended, or the time is
 * over. True: ends_fd is ready. */
bool off_rings_wait(struct off_rings *rings, int wake_fd, int ends_fd, uint64_t wait_ns);
