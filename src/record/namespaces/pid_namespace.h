/* SPDX-License-Identifier: MIT */
/*
 * Translates ids between pid namespaces. A request states the pid of the process' own namespace. In
 * the launcher's namespace the process has another pid, and the stated pid may belong to another
 * process. A process is therefore identified by its memory, present only there at the stated
 * descriptor:
 *
 *     pid 1, descriptor 3, inode 77 ─▶ memfd 77 at descriptor 3: of the stated pid, of tracked
 *                                      processes with this stated pid, of children of the stated
 *                                      parent, of any process
 */
#pragma once

#include "record/process/process_table.h"
#include "record/procfs/target_memory.h"
#include "record/round.h"
#include "record/session/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The threads of a process in this round, and what may still be read to find one of these: the
 * slots that state tids are the process' own, so the work of a round is bounded. */
struct tid_list {
    const struct process *process;
    uint64_t round_ns;
    pid_t *tids; /* in the order of creation */
    size_t count;
    uint32_t lists_left, reads_left;
};

struct pid_namespaces {
    const struct session *session;
    struct process_table *processes;
    const struct round *round;
    struct tid_list list;
    uint32_t made_up_tids; /* of threads with a tid that could not be translated */
};

struct identity {
    pid_t pid;
    pid_t parent_pid; /* 0: as stated by the process */
    pid_t stated_pid; /* in the process' own pid namespace */
    int memory_fd;    /* the caller closes the descriptor */
    /* Inodes of the pid namespaces of the process and its parent, 0 for the launcher's own; and the
     * pid of the process in the parent's namespace, if the two differ. */
    uint32_t namespace, parents_namespace;
    pid_t pid_for_parent;
};

/* False: not found, hidden, or ended. */
bool pid_namespace_identify(struct pid_namespaces *namespaces, const struct join_request *request,
                            struct identity *identity);

/* The tid in the launcher's namespace; a thread that has ended gets an unused number. 0: to be
 * found in a later round. */
pid_t pid_namespace_tid(struct pid_namespaces *namespaces, struct process *process,
                        const struct thread_slot *slot);

void pid_namespaces_free(struct pid_namespaces *namespaces);
