/* SPDX-License-Identifier: MIT */
/*
 * The events of the perf-ring engine: one on each thread and processor, because the kernel maps no
 * ring for an inherited event without a processor. New threads and children inherit the events of
 * their creator. Closing the descriptors ends everything in the targets, also when rec is killed.
 */
#pragma once

#include "record/events/event_request.h"
#include "record/perf_ring/rings/kernel_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The descriptors of the events on the threads of a process. Children inherit the events, and share
 * the set: closing a descriptor ends the inherited events too. */
struct event_set {
    int *fds; /* owned */
    size_t count, capacity;
    size_t most; /* descriptors; 0: no limit of its own */
    uint32_t users;
    uint32_t processes;     /* users ever */
    size_t group;           /* descriptors of a thread, */
    size_t clocks;          /* of these, the first ones count CPU time */
    uint32_t stack_bytes;   /* copied by each event */
    uint64_t first_id;      /* of the events; ids only increase */
    uint64_t since_ns;      /* records of earlier times are of replaced events */
    uint64_t replaced_ns;   /* CPU time counted by replaced events */
    uint64_t *lost;         /* borrowed: takes the samples lost by closed events; NULL */
    uint64_t lost_before;   /* samples, that do not count */
    uint32_t samples, cuts; /* cut: the stack is larger than its copy */
    uint32_t latest_cuts;   /* in a row, up to the latest sample */
    bool keeps_size;        /* the events were replaced by larger ones, or cannot be */
    bool lacks_chains;      /* a callchain would have completed a stack */
    bool keeps_chains;      /* the events were replaced by ones with callchains, or cannot be */
};

/* With one user. NULL: out of memory. */
struct event_set *event_set_new(void);
/* set: NULL has no effect. */
struct event_set *event_set_use(struct event_set *set);
void event_set_release(struct event_set *set);
/* CPU time counted by the events, inherited events included. */
uint64_t event_set_count_ns(const struct event_set *set);
/* Samples lost until now do not count. */
void event_set_restart(struct event_set *set);
/* Closes the events after the first `count`. */
void event_set_cut(struct event_set *set, size_t count);
/* Ends the sampling; the set stays. */
void event_set_close(struct event_set *set);

/* Whether the record of an event of the set, or of its replacement, counts at this time: of two
 * events on a thread, one counts. */
bool event_set_has(const struct event_set *set, uint64_t id, uint64_t time_ns);
/* Whether the events are to be replaced by events with callchains. */
bool event_set_needs_chains(const struct event_set *set);
/* `larger` has its first events, and does not count yet. */
void event_set_await(struct event_set *set, const struct event_set *larger);
/* The events of `larger` count from this time on, and belong to `set`; `larger` is empty. */
void event_set_replace(struct event_set *set, struct event_set *larger, uint64_t since_ns);

/* Which tasks have the events besides the thread itself. */
enum event_reach {
    REACH_THREAD,
    REACH_PROCESS,
    REACH_CHILDREN,
    REACH_SYSTEM, /* all tasks of the processors, idle time left out */
};

struct thread_events {
    /* One for each event and processor, the first event first; borrowed. */
    const struct kernel_ring *rings;
    size_t ring_count;
    const struct event_request *requests; /* by kernel_ring.event; NULL: CPU time */
    const char *filter;                   /* of tracepoints; NULL: none; borrowed */
    uint64_t period_ns;                   /* of clocks */
    uint32_t stack_bytes;
    enum event_reach reach;
    bool exclude_kernel; /* kernel time is not sampled */
    bool exclude_user;   /* user time is not sampled */
    bool kernel_stacks;  /* samples in the kernel have the kernel's callchain */
    bool user_chains;    /* samples have the callchain of frame pointers */
    bool are_switches;   /* no samples: SWITCH records of context switches */
};

/* When the events begin to sample. */
enum event_start {
    EVENTS_NOW,
    EVENTS_AT_EXEC,
    EVENTS_LATER, /* disabled */
};

/* Opens the events of one thread and adds them to the set. 0, or the kernel's negative errno: then
 * the thread has no event. -EMFILE at the limit of the set, too. */
int thread_events_open(const struct thread_events *events, struct event_set *set, pid_t tid,
                       enum event_start start);

/* Opens and starts an event on each processor for all its tasks; cgroup_fd: for the tasks of this
 * cgroup; -1: none. 0, or the kernel's negative errno. */
int system_events_open(const struct thread_events *events, struct event_set *set, int cgroup_fd);

/* Whether rec may sample processes of its user: an event on rec itself, closed at once. 0 or the
 * kernel's negative errno. */
int thread_events_probe(void);

/* Whether rec may sample kernel time: an event on rec itself, closed at once. */
bool thread_events_may_sample_kernel(void);
