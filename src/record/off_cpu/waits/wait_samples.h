/* SPDX-License-Identifier: MIT */
/*
 * From pieces of a thread's time off the processor to the entries of the queue, and to the sums of
 * all threads.
 */
#pragma once

#include "record/off_cpu/file/off_queue.h"
#include "record/off_cpu/file/wait_frames.h"
#include "record/off_cpu/off_tasks.h"
#include "record/off_cpu/waits/off_objects.h"

#include <stdbool.h>
#include <stdint.h>

/* Sums of all threads. */
struct off_sums {
    uint64_t waiting_ns, runnable_ns, lost_ns;
    uint64_t on_ns;     /* on a processor, by the records */
    uint64_t filled_ns; /* without records, with the sums of schedstat */
    /* Parts of waiting_ns: with a stack; shorter than two ticks and not met; not seen. */
    uint64_t with_stack_ns, short_ns, unseen_ns;
};

struct wait_samples {
    struct wait_ticks ticks;
    struct off_queue *queue;
    struct off_sums sums;
    struct off_objects objects;
};

/* The samples of the wait under way, up to this time. stack NULL: the wait was not seen. */
void wait_samples_cut(struct wait_samples *samples, struct off_thread *thread, uint64_t until_ns,
                      bool is_over, const struct look_stack *stack);

/* Shares the sum of the short waits among those with a stack, and clears both. */
void wait_samples_share(struct wait_samples *samples, struct off_thread *thread);
/* The sum as one sample, from the first of the intervals on, and clears it. */
void wait_samples_put_sum(struct wait_samples *samples, const struct off_thread *thread,
                          struct short_waits *shorts, enum wait_frame frame);

/* Runnable time without a processor: kept for one sample of the window, */
void wait_samples_add_short_runnable(struct wait_samples *samples, struct off_thread *thread,
                                     uint64_t start_ns, uint64_t end_ns);
/* or a sample of its own, if it lasts two ticks or more, */
void wait_samples_add_runnable(struct wait_samples *samples, struct off_thread *thread,
                               uint64_t start_ns, uint64_t end_ns);
/* or, of two ticks or more and under way, contiguous samples: one for each window. */
void wait_samples_put_runnable(struct wait_samples *samples, struct off_thread *thread,
                               uint64_t start_ns, uint64_t end_ns);
