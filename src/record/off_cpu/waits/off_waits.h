/* SPDX-License-Identifier: MIT */
/*
 * From the intervals of a thread to its samples; off_windows.h ends the windows.
 *
 *     blocked, two ticks or more     a sample for each tick, now and at the end of each window
 *     blocked, shorter               shared at the end of the window; a window without a met wait
 *                                    leaves its sum to the next one
 *     runnable                       one sample for each interval of two ticks or more, and one
 *                                    for the shorter ones of a window
 *
 * The last part of a wait may be runnable time: the thread was woken, and had no processor yet.
 */
#pragma once

#include "record/off_cpu/off_tasks.h"
#include "record/off_cpu/waits/off_notes.h"
#include "record/off_cpu/waits/wait_samples.h"
#include "record/procfs/blocked/blocked_call.h"

#include <stdbool.h>
#include <stdint.h>

struct off_waits {
    struct wait_samples samples;
    bool is_quiet; /* sampling has not begun */
    /* schedstat of a thread: 0 or a negative errno; NULL: not read. */
    int (*read_account)(pid_t pid, pid_t tid, struct run_account *account);
    struct off_notes notes; /* where schedstat is gone */
    /* Whether a thread is runnable; NULL: no thread can be, there are processors for all. So many
     * calls are left in this window. */
    bool (*is_runnable)(pid_t pid, pid_t tid);
    uint32_t checks_left;
    struct off_thread *to_look; /* threads in a wait without a look; the newest first */
    struct off_thread *of_tick; /* those of the present tick */
};

/* The thread waits since thread->run.since_ns. */
void off_waits_begin(struct off_waits *waits, struct off_thread *thread);
/* An interval of the thread has ended. */
void off_waits_end(struct off_waits *waits, struct off_thread *thread,
                   const struct run_interval *interval);

/* schedstat of a thread that waits, besides the records: time before this wait, mostly. */
void off_waits_take_account(struct off_waits *waits, struct off_thread *thread,
                            const struct run_account *account);

/* schedstat of a thread that has run since the last read. */
void off_waits_read_account(struct off_waits *waits, struct off_thread *thread);
/* The first record of a program, which has run since its exec: the account of the command has
 * begun before. */
void off_waits_take_base(struct off_waits *waits, struct off_thread *thread, uint64_t time_ns);
/* The same of a thread that has ended. */
void off_waits_read_last_account(struct off_waits *waits, struct off_thread *thread);

/* The thread goes on after lost records. */
void off_waits_resume(struct off_waits *waits, struct off_thread *thread, uint64_t now_ns);
/* The stack of the wait that ends now; NULL: none, or the look was at a later wait. */
struct look_stack *off_waits_stack(const struct off_thread *thread, uint64_t end_ns);

/* The interval of the ticks has changed. After off_windows_flush(). */
void off_waits_change_ticks(struct off_waits *waits, struct off_thread *thread);

/* Sampling begins: what was before does not count. */
void off_waits_restart(struct off_waits *waits, struct off_thread *thread, uint64_t now_ns);

/* A tick has the threads of the list so far: with later ones, a tick of threads that switch faster
 * than accounts are read would never end. */
void off_waits_begin_tick(struct off_waits *waits);
/* The next thread of the tick, out of the list; NULL: no more. Ended threads are freed. */
struct off_thread *off_waits_next(struct off_waits *waits);
/* Another look is due at the next tick. */
void off_waits_look_again(struct off_waits *waits, struct off_thread *thread);
