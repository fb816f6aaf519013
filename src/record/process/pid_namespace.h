/* SPDX-License-Identifier: MIT */
/*
 * Ids across pid namespaces. A process slot states ids of the namespace of its process; there the launcher
 * finds other ids, or another process with that pid. The process is identified by its mark: private memory
 * that holds the session's token and the number of its slot.
 *
 *     slot 7: pid 1, mark at A ─▶ which process has "token, slot 7" at A? the stated pid, known processes
 *                                 with that stated pid, children of the stated parent, any process
 */
#pragma once

#include "record/process/proc_maps.h"
#include "record/process/process_table.h"
#include "record/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pid_namespaces {
    const struct session *session;
    struct process_table *processes;
    uint32_t made_up_tids; /* of threads that were gone before their id here was found */
};

struct identity {
    pid_t pid, parent_pid;
    pid_t stated_pid; /* in its own pid namespace */
    bool is_marked;   /* identified by its mark */
    /* As in struct process_verdict. */
    uint32_t namespace, parents_namespace;
    pid_t pid_for_parent;
};

/* False: not found, or gone. Where the mark cannot be read, the stated pid is accepted if its mappings hold
 * the session's memory; then *mappings has them. */
bool pid_namespace_identify(struct pid_namespaces *namespaces, uint32_t slot,
                            const struct process_slot *request, struct proc_maps *mappings,
                            struct identity *identity);

/* The tid that a thread has here; a thread that is gone gets a number that no thread has. */
pid_t pid_namespace_tid(struct pid_namespaces *namespaces, struct process *process,
                        const struct thread_slot *slot);
