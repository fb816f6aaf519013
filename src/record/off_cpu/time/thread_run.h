/* SPDX-License-Identifier: MIT */
/*
 * When a thread had a processor and when not, from PERF_RECORD_SWITCH records. Pure arithmetic.
 *
 *              IN                      OUT                  OUT, preempted
 *     off ───────────▶ RUN_ON ───────────────▶ RUN_BLOCKED
 *                             ───────────────────────────────▶ RUN_PREEMPTED
 *
 * Each record ends an interval. The sum of all intervals is the lifetime, so CPU + waiting +
 * runnable + unknown = lifetime.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum run_state {
    RUN_UNSEEN,    /* the thread is older than the events: its first record shows its state */
    RUN_ON,        /* on a processor */
    RUN_BLOCKED,   /* waits */
    RUN_PREEMPTED, /* runnable without a processor */
    RUN_LOST,      /* records are missing */
    RUN_STATES,
};

struct thread_run {
    enum run_state state;
    uint64_t start_ns, since_ns; /* of the thread; of the state */
    uint64_t sums_ns[RUN_STATES];
};

struct run_interval {
    enum run_state state;
    uint64_t start_ns, end_ns;
};

struct thread_run thread_run_begin(enum run_state state, uint64_t start_ns);

/* A record: the thread got a processor, or lost its processor. Returns the interval before. */
struct run_interval thread_run_in(struct thread_run *run, uint64_t time_ns);
struct run_interval thread_run_out(struct thread_run *run, bool is_preempted, uint64_t time_ns);

/* Records are missing since the last record of this thread, possibly. */
void thread_run_lose(struct thread_run *run);
/* The missing records end at this time: the next record shows the state. */
struct run_interval thread_run_resume(struct thread_run *run, uint64_t time_ns);
/* Moves time of missing records to another state. */
void thread_run_explain(struct thread_run *run, enum run_state state, uint64_t part_ns);
/* The thread has ended, or the recording. Later records have no effect on the sums. */
struct run_interval thread_run_end(struct thread_run *run, uint64_t time_ns);
/* Counts from this time on. */
void thread_run_restart(struct thread_run *run, uint64_t time_ns);
