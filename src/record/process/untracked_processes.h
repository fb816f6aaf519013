/* SPDX-License-Identifier: MIT */
/*
 * Processes of the tree that run without a sampler. They do not announce themselves: ten times a second the
 * children of all known processes are listed, and the executables of recorded processes compared, as a
 * process may execute a program that takes no sampler. Each gets its name, its CPU time and the reason. Once
 * known it is looked at often enough to miss little of its time at its end. The time of processes that ended
 * before they were met stays in the command's account, as [not followed].
 */
#pragma once

#include "record/process/process_watch.h"
#include "record/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UNTRACKED_PROCESSES_MAX 64

struct untracked_process {
    struct process process; /* pid, name, account; it has no slot */
    uint64_t parents_executable_id;
    bool is_written; /* it is in the file and in the summary */
};

struct untracked_processes {
    struct process_table *processes;
    struct process_watch *watch;
    struct process_tree *tree;
    struct sample_writer *samples;
    const struct session *session;
    const struct round *round;
    bool command_only; /* --no-inherit */
    bool has_command;  /* the command is in the file as one of these */
    struct untracked_process items[UNTRACKED_PROCESSES_MAX];
    size_t count;
    size_t next_parent; /* counts on: whose children the next look lists */
    uint64_t due_ns, search_ns;
};

void untracked_processes_look(struct untracked_processes *untracked);

/* At most wait_ns; less when a look is due earlier. */
uint64_t untracked_processes_wait_ns(const struct untracked_processes *untracked, uint64_t wait_ns);

/* The process got a sampler after all: true if it is in the file, with its CPU time until then. */
bool untracked_processes_take(struct untracked_processes *untracked, pid_t pid, uint64_t *cpu_ns);

/* Sampling begins: CPU time until now does not count. */
void untracked_processes_begin(struct untracked_processes *untracked);

/* The recording ends. Returns the CPU time that is not in the command's rusage. */
uint64_t untracked_processes_finish(struct untracked_processes *untracked, bool command_runs);
