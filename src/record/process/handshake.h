/* SPDX-License-Identifier: MIT */
/*
 * Requests of starting processes and their replies: see the picture in wire/session.h. A request is
 * identified, judged, armed and answered before anything that can wait, as the process waits in its
 * constructor:
 *
 *     identify ─ settle pid reuse ─ enter the process ─ refuse or arm ─ reply │ watch, write, account
 *     └────────────────────────── the process waits ────────────────────────┘
 */
#pragma once

#include "record/process/admission.h"
#include "record/process/pid_namespace.h"
#include "record/tables/process_maps.h"
#include "record/process/process_watch.h"
#include "record/process/untracked_processes.h"

#include <stdbool.h>
#include <stdint.h>

struct handshake {
    struct session *session;
    struct process_table *processes;
    struct thread_table *threads;
    struct process_watch *watch;
    struct process_tree *tree;
    struct process_maps *maps;
    struct pid_namespaces *namespaces;
    struct untracked_processes *untracked;
    struct outside *outside;
    struct accounting *accounting;
    struct sample_writer *samples;
    const struct round *round;
    struct admission admission;
    bool has_command;    /* a child of rec has joined */
    bool has_inner_pids; /* a process with other ids in its own pid namespace has joined */
    uint32_t doorbell;   /* last value seen */
    bool is_outside[SESSION_PROCESSES]; /* by slot: the last request's process has no sampler */
    uint32_t starting_pids[SESSION_PROCESSES]; /* by slot, at the last look; 0: free */
    uint64_t abandoned_due_ns;
};

/* Answers all requests. True when the doorbell was rung. */
bool handshake_answer(struct handshake *handshake);

/* Frees the slots of processes that were killed while they started. Two looks are needed: a pid
 * without a process here may be a pid of an inner namespace whose process is just starting. */
void handshake_free_abandoned(struct handshake *handshake);
