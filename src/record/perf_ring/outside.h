/* SPDX-License-Identifier: MIT */
/*
 * The perf-ring engine in the recording of a command: records the processes without a sampler, each
 * with all its descendants.
 *
 *     static, Go, musl command          the child waits before its exec     outside_await_exec()
 *     program announced by a sampler    the process waits before its exec   outside_await_exec()
 *     process of the tree, found later  events opened on all its threads    outside_adopt()
 *     sampled process with deep fibers  the same                            outside_take_fibers()
 *
 * The handshake refuses a process recorded here, so no process is sampled twice. The rings are
 * opened with the first process. Collector thread only; before its start, the thread of rec.
 */
#pragma once

#include "record/perf_ring/ring_attach.h"
#include "record/perf_ring/ring_source.h"
#include "record/process/process_watch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct outside {
    struct ring_source source;
    struct ring_source_config config;
    bool is_permitted; /* by the choice of the engine */
    bool takes_fibers; /* no recorder has hooks: see outside_take_fibers() */
    bool is_open;
    int open_error; /* 0, or why the rings cannot be opened: there is no second attempt */
    uint64_t look_due_ns;
};

void outside_close(struct outside *outside);

/* A process that waits before its exec; is_in_file: an earlier program of this pid is in the file.
 * 0 or a negative errno. */
int outside_await_exec(struct outside *outside, struct attached target, bool is_in_file);
/* The parent of a process that was recorded by its sampler: /proc has init once the parent is
 * gone. */
void outside_set_parent(struct outside *outside, const struct process *process);
/* Whether the exec is still to come. */
bool outside_awaits_exec(const struct outside *outside, pid_t pid);
/* The exec does not come. */
void outside_forget(struct outside *outside, pid_t pid);
/* A process after the awaited exec, each once; 0: no more. */
pid_t outside_take_executed(struct outside *outside);

/* An ended process, each once. False: no more. */
bool outside_take_end(struct outside *outside, struct ring_end *end);

/* A running process of the tree. missed_ns: its CPU time so far, becomes [not followed]. 0, or a
 * negative errno: the process is not recorded. */
int outside_adopt(struct outside *outside, struct attached target, uint64_t missed_ns,
                  bool is_in_file);

/*
 * Takes sampled processes over that run on stacks of their own making, deeper than a page. The
 * sampler cannot read behind the page of SP: the next page may be unmapped. The kernel copies the
 * stack at the moment of the sample, up to the first unmapped page.
 *
 *     sampler                       launcher                         kernel
 *     page of SP, [truncated] ────▶ two such stacks
 *     inert ◀────────────────────── is_handed_over = 1
 *                                   events on all threads ─────────▶ registers, 64 KiB of stack
 *                                   account and old event closed
 *
 * Needs the engine perf-trap: a user with the rights for its event may open the other events.
 */
void outside_take_fibers(struct outside *outside, struct process_watch *watch);

/* Whether the process is recorded here. */
bool outside_has(struct outside *outside, pid_t pid);
size_t outside_count(const struct outside *outside);

/* Reads the rings; looks at CPU times and ends of processes when due. */
void outside_round(struct outside *outside);
/* Reads all records, at the end of the recording. */
void outside_catch_up(struct outside *outside);
/* At most wait_ns; less where the rings must be read earlier. */
uint64_t outside_wait_ns(const struct outside *outside, uint64_t wait_ns);

/* CPU time of the ended processes, while they were recorded. */
uint64_t outside_cpu_ns(const struct outside *outside);

/* The delay before sampling is over. */
void outside_begin(struct outside *outside);

/* Closes the events, reads the rest. command_runs: processes that outlive the recording need no
 * mention. Returns the CPU time outside of the command's rusage. */
uint64_t outside_finish(struct outside *outside, bool command_runs);
