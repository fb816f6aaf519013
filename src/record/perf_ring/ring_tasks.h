/* SPDX-License-Identifier: MIT */
/*
 * The processes and threads recorded through kernel rings, and how they enter: found at the start,
 * by the FORK of a parent, or by a first sample.
 *
 *     ring_task_records   FORK, COMM, EXIT ─▶ ring_tasks_add_child(), …, ring_ends_take()
 *     ring_ends           the end of a process, its CPU account
 *     ring_tasks          the tables, and the start in the file
 */
#pragma once

#include "record/perf_ring/maps/ring_maps.h"
#include "record/perf_ring/ring_process.h"
#include "record/perf_ring/tid_set.h"
#include "record/sample/sample_writer.h"

#include <stdbool.h>
#include <stdint.h>

/* An ended process, for the account of the tree. */
struct ring_end {
    pid_t pid, parent_pid;
    uint64_t cpu_ns; /* since its fork */
    bool is_orphan;  /* the parent ended first: no wait adds the CPU time to a rusage */
};

/* Recordings of running processes take none. */
enum { RING_ENDS_MAX = 65536 };

struct ring_tasks {
    struct ring_processes processes;
    struct ring_maps *maps;
    struct sample_writer *samples;
    const struct round *round;
    struct tid_set tids; /* the threads with events */
    int end_fd;          /* epoll: the pidfd of every process */
    pid_t *executed;     /* processes after the exec that they waited for; owned */
    size_t executed_count, executed_capacity;
    struct ring_end *ends; /* owned */
    size_t end_count, end_capacity;
    uint64_t lost;   /* samples of closed events */
    uint64_t cpu_ns; /* of the ended processes, while they were recorded */
    bool exclude_kernel;
    bool kernel_only; /* user time is left out: CPU time is not accounted for */
    bool has_system;  /* all tasks are recorded: CPU time is not accounted for each process */
};

/* The pointers are set by the caller. 0 or a negative errno. */
int ring_tasks_open(struct ring_tasks *tasks);
void ring_tasks_close(struct ring_tasks *tasks);

/* A process that was there before, without events yet. is_in_file: an earlier program of this pid
 * is in the file. NULL: out of memory. */
struct ring_process *ring_tasks_attach(struct ring_tasks *tasks, pid_t pid, bool is_in_file);
/* The process of a record, with a lost FORK, or of the system from before the recording. NULL: out
 * of memory. */
struct ring_process *ring_tasks_meet(struct ring_tasks *tasks, const struct ring_record *record);
/* Writes the start of the process; later calls have no effect. */
void ring_tasks_start(struct ring_tasks *tasks, struct ring_process *process);
/* The same for a process from before the recording, dated before its first record. */
void ring_tasks_start_before(struct ring_tasks *tasks, struct ring_process *process,
                             uint64_t record_ns);
/* A thread of the process that was there before, with events from now on. */
void ring_tasks_add_thread(struct ring_tasks *tasks, struct ring_process *process, pid_t tid);
bool ring_tasks_has_thread(const struct ring_tasks *tasks, pid_t tid);

/* FORK of a process: the child has the events and the map of its parent. NULL: out of memory. */
struct ring_process *ring_tasks_add_child(struct ring_tasks *tasks, const struct ring_record *fork);
/* FORK of a thread, or of the first thread of a child. */
void ring_tasks_add_forked(struct ring_tasks *tasks, struct ring_process *process,
                           const struct ring_record *fork);

/* Writes the start of the next program of the process. */
void ring_tasks_start_program(struct ring_tasks *tasks, struct ring_process *process);
void ring_tasks_write_name(struct ring_tasks *tasks, const struct ring_process *process, pid_t tid,
                           const char *name, uint64_t time_ns);
