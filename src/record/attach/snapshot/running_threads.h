/* SPDX-License-Identifier: MIT */
/*
 * The threads of a snapshot that did not wait at their look: a perf sample of each. A starved
 * thread is runnable and gets no processor; its sample comes with its next turn, if at all.
 */
#pragma once

#include "record/attach/snapshot/running_sample.h"
#include "record/attach/snapshot/snapshot.h"
#include "record/procfs/blocked/blocked_call.h"

#include <stdbool.h>
#include <stddef.h>

struct running_thread {
    struct snapshot_thread *row;
    struct run_account account; /* at the look */
};

struct running_threads {
    struct running_thread *items; /* owned */
    size_t count;
};

struct running_handler {
    void *context;
    /* Keeps the stack of a sample in the row. */
    void (*take)(void *context, struct snapshot_thread *row, const struct ring_record *sample);
    /* Another look at a thread without a sample. False: the thread still runs. */
    bool (*look)(void *context, struct snapshot_thread *row);
};

/* Fills the rows. pid: of the process. */
void running_threads_sample(const struct running_threads *threads, pid_t pid,
                            const struct running_handler *handler);
