/* SPDX-License-Identifier: MIT */
/*
 * Processes and threads over time. Fed in the order of time: the present state holds for the
 * present sample, so a reused id is another process or thread from its FORK on.
 */
#pragma once

#include "convert/maps/address_map.h"
#include "perfdata/reader.h"
#include "profile/profile.h"

struct task_process { /* by the index in profile->processes */
    struct address_map map;
    uint32_t live_threads;
    bool has_program; /* the program's own mapping was recorded since the last exec */
    bool is_named_by_exec;
};

enum { TASKS_RECENT = 256 };

struct task_recent { /* a still valid result of tasks_thread() */
    uint32_t pid, tid, thread;
    bool is_set;
};

struct tasks {
    struct profile *profile;
    struct intern *pids; /* pid -> index in latest_process */
    uint32_t *latest_process;
    size_t pid_count, pid_capacity;
    struct intern *tids; /* tid -> index in latest_thread */
    uint32_t *latest_thread;
    size_t tid_count, tid_capacity;
    struct task_process *processes;
    size_t process_count, process_capacity;
    struct task_recent recent[TASKS_RECENT]; /* by the low bits of the tid */
    size_t copied_mappings;                  /* from parents to children */
    uint64_t without_map;                    /* children without a map, for lack of budget */
};

int tasks_init(struct tasks *tasks, struct profile *profile);
void tasks_free(struct tasks *tasks);

/* Indices in the profile, added when the task was not heard of yet; PROFILE_NONE: out of memory. */
uint32_t tasks_process(struct tasks *tasks, uint32_t pid, uint64_t time_ns);
uint32_t tasks_find_thread(const struct tasks *tasks,
                           uint32_t tid); /* PROFILE_NONE: not heard of */
uint32_t tasks_thread(struct tasks *tasks, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* COMM, FORK, EXIT. 0 or -ENOMEM. */
int tasks_comm(struct tasks *tasks, const struct perfdata_event *event);
int tasks_fork(struct tasks *tasks, const struct perfdata_event *event);
int tasks_exit(struct tasks *tasks, const struct perfdata_event *event);
