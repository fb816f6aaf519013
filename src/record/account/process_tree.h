/* SPDX-License-Identifier: MIT */
/*
 * The rusage of a tree of processes. The command's own rusage holds the CPU time of the command and
 * of each descendant that was waited for. Not in it:
 *
 *     descendants that still run              their own CPU time, and that of the children they waited for
 *     descendants left to init (daemons)      the same; after their end no other process has it
 *
 * A process is detached when its line of parents no longer leads to the command.
 */
#pragma once

#include "record/process/process_table.h"
#include "record/round.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_tree {
    struct process_table *processes;
    const struct round *round;
    uint32_t processors;
    pid_t root_pid;       /* atomic: the command's; 0: not started yet */
    uint64_t detached_ns; /* CPU time of processes that ended detached */
};

/* Finds the ancestor of a new process, and whether it is detached. */
void process_tree_place(struct process_tree *tree, struct process *process);

/* A process has ended: takes its rusage if no other process has it, and places its children
 * anew. */
void process_tree_take_end(struct process_tree *tree, const struct process *ended);

/* CPU time that is not in the command's rusage; the whole tree's while the command runs. */
uint64_t process_tree_live_ns(const struct process_tree *tree, bool command_runs);
