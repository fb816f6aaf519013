/* SPDX-License-Identifier: MIT */
/*
 * Requests of starting processes and their replies: see the picture in wire/session.h. A request is
 * identified, judged, armed and answered before anything that can wait, as the process waits in its
 * constructor:
 *
 *     settle pid reuse ─ pidfd ─ identify ─ map ─ enter ─ refuse or arm ─ alive? ─ reply │ watch, …
 *     └────────────────────────── the process waits ───────────────────────────────────┘
 *
 * A pid is the kernel's word for the process: the pidfd is opened before the mappings of this pid
 * show the memory, and is not readable (the process lives) after the event was opened, so each step
 * dealt with the same process.
 */
#pragma once

#include "record/process/admission.h"
#include "record/namespaces/pid_namespace.h"
#include "record/tables/maps/process_maps.h"
#include "record/process/process_watch.h"
#include "record/process/untracked/untracked_processes.h"

#include <stdbool.h>
#include <stdint.h>

struct handshake {
    struct session *session;
    struct process_table *processes;
    struct process_watch *watch;
    struct process_tree *tree;
    struct pid_namespaces *namespaces;
    struct untracked_processes *untracked;
    struct outside *outside;
    struct accounting *accounting;
    struct sample_writer *samples;
    const struct round *round;
    struct admission admission;
    bool has_command;    /* a child of rec has joined */
    bool has_inner_pids; /* a process with other ids in its own pid namespace has joined */
    bool has_tracers;  /* a process has called ptrace(); each process could clear the shared word */
    uint32_t doorbell; /* last value seen, all requests before answered */
    uint32_t next_request;
    uint32_t starting_pids[SESSION_REQUESTS]; /* by request, at the last look; 0: free */
    uint64_t abandoned_due_ns;
};

/* Answers the requests, for a limited time. True when the doorbell was rung. */
bool handshake_answer(struct handshake *handshake);

/* Frees the requests of processes that were killed while they started. Two looks are needed: a pid
 * without a process here may be a pid of an inner namespace, of a process just starting. */
void handshake_free_abandoned(struct handshake *handshake);
