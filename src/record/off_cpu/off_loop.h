/* SPDX-License-Identifier: MIT */
/*
 * The loop of the off-CPU thread: reads records, looks at waiting threads at ticks, ends windows.
 * The loop alone knows all parts that the thread uses.
 */
#pragma once

#include "record/off_cpu/off_ends.h"
#include "record/off_cpu/off_looks.h"
#include "record/off_cpu/off_poll.h"
#include "record/off_cpu/records/off_records.h"
#include "record/off_cpu/records/off_rings.h"
#include "record/off_cpu/time/switch_storm.h"
#include "record/off_cpu/time/tick_pace.h"

#include <stdbool.h>
#include <stdint.h>

struct off_loop {
    struct off_rings rings;
    struct off_tasks tasks;
    struct off_waits waits;
    struct off_looks looks;
    struct off_records records;
    struct off_poll poll;
    struct off_ends ends;
    bool is_polled;    /* no switch records: the kernel refuses the events */
    uint32_t root_pid; /* atomic: of the polled tree; 0: does not run yet */
    uint32_t tid;      /* atomic: of the thread that runs the loop; 0: does not run yet */
    int wake_fd;       /* ends the wait for work; owned by the caller */
    uint32_t stop;     /* atomic */
    uint64_t begin_ns; /* atomic: end of the delay before sampling; 0: not yet */
    uint64_t next_tick, flush_due_ns;
    struct tick_pace pace;
    uint64_t longest_ns; /* interval of ticks */
    struct switch_storm window;
    struct storm_rates storm; /* at which the records ended; zeros: none */
    uint64_t record_ns;       /* the latest look with a record */
    uint64_t cpu_ns;          /* of ended threads, and of those given up */
    struct off_thread *again; /* of the present tick: to look at again in the next tick */
};

/* A zeroed loop: connects its parts with each other and with the queue of the writer. */
void off_loop_connect(struct off_loop *loop, struct off_queue *queue, uint64_t interval_ns);

/* Short waits share their sum this often. */
uint64_t off_loop_window_ns(const struct off_loop *loop);

/* Runs until stop is set, then ends all waits. After off_looks_give_up(), another thread runs the
 * rest of the loop. */
void off_loop_run(struct off_loop *loop);
