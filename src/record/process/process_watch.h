/* SPDX-License-Identifier: MIT */
/*
 * Watches the recorded processes while they run, and ends them in the file: rings drained, account
 * closed, EXIT written.
 *
 *     runs ─ check ─ check ─ … ─▶ pidfd readable ─▶ (one more round, for a late rusage) ─▶ end
 */
#pragma once

#include "record/account/accounting.h"
#include "record/tables/compiler.h"
#include "record/sample/drain.h"
#include "record/account/process_tree.h"
#include "record/account/sampling_gaps.h"
#include "record/process/untracked/untracked_threads.h"

#include <stdbool.h>
#include <sys/epoll.h>

/* Between two looks at a running process for a tracer, and for mappings made without dlopen(). */
#define PROCESS_CHECK_INTERVAL_NS 1000000000

struct process_watch {
    struct process_table *processes;
    struct drain *drain;
    struct pending_stacks *pending;
    struct sample_writer *samples;
    struct untracked_threads *untracked;
    struct sampling_gaps *gaps;
    struct accounting *accounting;
    struct process_tree *tree;
    struct compiler *compiler;
    const struct round *round;
    int end_fd;                                   /* epoll: the pidfd of every process */
    struct epoll_event events[SESSION_PROCESSES]; /* of one look */
    /* The end of the process by the kernel's records, if not before since_ns; 0: unknown. NULL: no
     * records. */
    uint64_t (*kernel_end_ns)(const void *records, pid_t pid, uint64_t since_ns);
    const void *records;
    bool has_starts;       /* requests of this round: memories of ended processes may wait */
    bool waits_for_rusage; /* a process that ended in this round has no rusage yet */
};

/* 0 or a negative errno. The pointers are set by the caller. */
int process_watch_open(struct process_watch *watch);
void process_watch_close(struct process_watch *watch);

/* Watches the pidfd of a process. Not for the pidfd of a replaced program: watched already. */
void process_watch_add(struct process_watch *watch, const struct process *process);

/* Once a round: CPU time, tracers, sampling gaps, first maps. */
void process_watch_check(struct process_watch *watch);
/* Ends processes with an observed end, and frees ended processes without pending work. */
void process_watch_find_ended(struct process_watch *watch);

/* The program is over: by exec, and its successor's start settles; … */
void process_end_program(struct process_watch *watch, struct process *process);
/* … the process goes on with this CPU time, recorded by perf-ring; … */
void process_leave(struct process_watch *watch, struct process *process, uint64_t cpu_ns);
/* … with the recording; … */
void process_settle_and_end(struct process_watch *watch, struct process *process);
/* … or with its process, and the file has an EXIT. */
void process_end(struct process_watch *watch, struct process *process);

/* The process executed a program without a sampler, or lost its own. */
void process_turn_untracked(struct process_watch *watch, struct process *process,
                            const char *reason);
