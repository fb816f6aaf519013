/* SPDX-License-Identifier: MIT */
/*
 * Processes of the tree that run without a sampler, and therefore without a handshake. Ten times a
 * second, the children of all tracked processes are listed, and the executables of recorded
 * processes compared: a process may execute a program that takes no sampler. The engine perf-ring
 * records such a process from then on. Where this is impossible, the process is written with name,
 * CPU time and reason, and then looked at often enough to miss little CPU time at its end. The CPU
 * time of processes that ended before they were found stays in the command's account, as
 * [not followed].
 */
#pragma once

#include "record/perf_ring/outside.h"
#include "record/process/process_watch.h"
#include "record/session/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UNTRACKED_PROCESSES_MAX 64

struct untracked_process {
    struct process process; /* pid, name, account; without a slot */
    uint64_t parents_executable_id;
    bool is_written; /* in the file and in the summary */
};

/* Lists of children take a part of the time: of 10 000 threads, a list takes 50 ms. */
struct children_share {
    uint64_t cost_ns; /* not yet made up for */
    uint64_t at_ns;
    size_t next; /* the next look starts with this process; counts on without limit */
};

struct untracked_processes {
    struct process_table *processes;
    struct process_watch *watch;
    struct process_tree *tree;
    struct sample_writer *samples;
    struct outside *outside;
    const struct session *session;
    const struct round *round;
    bool command_only; /* --no-inherit */
    bool has_command;  /* the command is in the file as an untracked process */
    struct untracked_process items[UNTRACKED_PROCESSES_MAX];
    size_t count;
    struct children_share of_recorded, of_items; /* children of processes of the table, of items */
    uint64_t due_ns, search_ns, loader_due_ns;
};

void untracked_processes_look(struct untracked_processes *untracked);

/* At most wait_ns; less if a look is due earlier. */
uint64_t untracked_processes_wait_ns(const struct untracked_processes *untracked, uint64_t wait_ns);

/* The process joined after all: forgets the item. True if the process is in the file already;
 * *cpu_ns is then its CPU time so far. */
bool untracked_processes_take(struct untracked_processes *untracked, pid_t pid, uint64_t *cpu_ns);

/* Sampling begins: CPU time so far does not count. */
void untracked_processes_begin(struct untracked_processes *untracked);

/* The recording ends. Returns the CPU time outside of the command's rusage. */
uint64_t untracked_processes_finish(struct untracked_processes *untracked, bool command_runs);
