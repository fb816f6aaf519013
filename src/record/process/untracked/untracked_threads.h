/* SPDX-License-Identifier: MIT */
/*
 * Threads without a slot: io_uring workers, which get no signals; threads of the C library
 * (aio_read(), for example), which block every signal; threads of a bare clone(). Their kernel time
 * becomes [kernel] of a thread with its own name, the rest [lost].
 *
 *     look ──────── look ─────────────────── look ──────────── look
 *     │ seen first  │ written since its start │ the growth      │ gone: EXIT
 *
 * A new thread gets some time to claim a slot. CPU time between the last look and the end of the
 * process stays with the process, so each look at a process includes these threads, unless they are
 * many.
 */
#pragma once

#include "record/process/process_table.h"
#include "record/sample/sample_writer.h"
#include "record/tables/thread_table.h"

#include <stdbool.h>
#include <stddef.h>

#define UNTRACKED_THREADS_MAX 256

struct untracked_thread {
    const struct process *process;
    pid_t tid;
    bool is_written; /* the FORK is in the file */
    uint64_t written_kernel_ns, written_user_ns;
    uint64_t first_ns, look_ns; /* the first and the latest look that found the thread */
};

struct untracked_threads {
    const struct thread_table *threads;
    struct sample_writer *samples;
    const struct round *round;
    bool starts_late; /* --delay: CPU time before the first look does not count */
    struct untracked_thread items[UNTRACKED_THREADS_MAX];
    size_t count;
};

/* Writes the CPU time since the last look. */
void untracked_threads_look(struct untracked_threads *untracked, struct process *process);
/* The process has untracked threads, and enough time has passed since the last look. */
bool untracked_threads_are_due(const struct untracked_threads *untracked,
                               const struct process *process);
void untracked_threads_end(struct untracked_threads *untracked, const struct process *process);
