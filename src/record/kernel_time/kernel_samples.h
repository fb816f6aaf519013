/* SPDX-License-Identifier: MIT */
/*
 * Kernel time of injected recordings (--kernel): a second event, without signals, for the time that
 * the sampler's event of user code leaves out. No period of CPU time is in both.
 *
 *     CPU time      user ───────── kernel ───────── user ─────────
 *     perf-trap     signal ▲                        signal ▲          sampler's ring
 *     kernel event                 ▲ kernel frames, registers and     kernel ring
 *                                    stack of the entry into the kernel
 *
 * By the expiry of the sampler's timer (timer_expiry.h), or else by a timer of its own.
 *
 * The command's event is inherited by all its descendants. Samples of threads without a sampler are
 * dropped: other parts of the recording have their CPU time.
 */
#pragma once

#include "record/kernel_time/signal_delivery.h"
#include "record/kernel_time/timer_expiry.h"
#include "record/perf_ring/thread_events.h"
#include "record/procfs/stack_pages.h"
#include "record/sample/pending_stacks.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel_samples {
    /* Set by the caller. */
    struct process_table *processes;
    struct pending_stacks *pending;
    struct sample_writer *samples;
    const struct round *round;

    struct kernel_ring *rings; /* NULL: not recorded */
    size_t ring_count;
    struct thread_events events;
    struct event_set *set;
    struct signal_delivery delivery;
    struct timer_expiry expiry;
    struct stack_pages pages;
    struct buffer record; /* of the latest sample */
};

/* Opens the event on the command, which waits before its exec. 0 or a negative errno;
 * kernel_samples_close() in any case. */
int kernel_samples_open(struct kernel_samples *kernel, pid_t command, enum event_reach reach);
void kernel_samples_close(struct kernel_samples *kernel);

/* Takes the records of all rings. Without effect when nothing is recorded. */
void kernel_samples_take(struct kernel_samples *kernel);

/* At most wait_ns; less where the rings must be read earlier. */
uint64_t kernel_samples_wait_ns(const struct kernel_samples *kernel, uint64_t wait_ns);
