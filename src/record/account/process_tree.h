/* SPDX-License-Identifier: MIT */
/*
 * The rusage of a tree of processes. The command's own rusage holds the CPU time of the command and
 * of each waited-for descendant. Not included:
 *
 *     descendants still running           own CPU time, and CPU time of their waited-for children
 *     descendants left to init (daemons)  the same; lost to all processes after their end
 *     descendants not waited for          the same: parents that end, or ignore SIGCHLD
 *
 * A process is detached if its line of parents no longer leads to the command.
 */
#pragma once

#include "record/account/ended_children.h"
#include "record/process/process_table.h"
#include "record/round.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_tree {
    struct process_table *processes;
    const struct round *round;
    uint32_t processors;
    bool command_only;    /* children are not recorded */
    pid_t root_pid;       /* atomic: the command's; 0: not started yet */
    uint64_t detached_ns; /* CPU time of ended detached processes */
    struct ended_children ended;
};

/* Finds the ancestor of a new process, and whether it is detached. */
void process_tree_place(struct process_tree *tree, struct process *process);

/* A process has ended: adds its rusage if no other process has received the rusage, and places
 * its children anew. */
void process_tree_take_end(struct process_tree *tree, const struct process *ended);

/* The process is recorded by other means from now on: no wait for it is a surprise. */
void process_tree_take_leave(struct process_tree *tree, pid_t pid, pid_t parent_pid);

/* A process recorded by other means has ended. is_orphan: its parent ended first. */
void process_tree_take_outside_end(struct process_tree *tree, const struct ended_child *ended,
                                   bool is_orphan);

/* CPU time outside of the command's rusage; the whole tree's while the command runs. */
uint64_t process_tree_live_ns(const struct process_tree *tree, bool command_runs);
