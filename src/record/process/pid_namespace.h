/* SPDX-License-Identifier: MIT */
/*
 * Translates ids between pid namespaces. A process slot states the ids of the process' own
 * namespace. In the launcher's namespace the process has other ids, and the stated pid may belong
 * to another process. A process is therefore identified by its mark: private memory that holds the
 * session's token and the slot number.
 *
 *     slot 7: pid 1, mark at A ─▶ which process has "token, slot 7" at A? the stated pid, tracked
 *                                 processes with this stated pid, children of the stated parent,
 *                                 any process
 */
#pragma once

#include "record/procfs/proc_maps.h"
#include "record/process/process_table.h"
#include "record/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pid_namespaces {
    const struct session *session;
    struct process_table *processes;
    uint32_t made_up_tids; /* of threads that ended before their tid could be translated */
};

struct identity {
    pid_t pid, parent_pid;
    pid_t stated_pid; /* in the process' own pid namespace */
    bool is_marked;   /* identified by the mark */
    /* As in struct process_verdict. */
    uint32_t namespace, parents_namespace;
    pid_t pid_for_parent;
};

/* False: not found, or ended. If the mark cannot be read, the stated pid is accepted when the
 * process maps the session's memory; *mappings then holds the mappings. */
bool pid_namespace_identify(struct pid_namespaces *namespaces, uint32_t slot,
                            const struct process_slot *request, struct proc_maps *mappings,
                            struct identity *identity);

/* The tid in the launcher's namespace; a thread that has ended gets a number that no thread has. */
pid_t pid_namespace_tid(struct pid_namespaces *namespaces, struct process *process,
                        const struct thread_slot *slot);
