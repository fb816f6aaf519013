/* SPDX-License-Identifier: MIT */
/*
 * What the threads of a running process do now. Nothing is stopped or signalled:
 *
 *     waiting threads    SP, PC and stack from /proc and process memory (blocked_look.h)
 *     running threads    a single perf sample each (running_sample.h)
 *
 * Stacks go into a capture, one sample for each thread, so that the conversion finds the names.
 * A forked process reads the target: a target stuck in the kernel with its mmap lock held hangs
 * the reader, which is then given up after a time limit.
 */
#pragma once

#include "record/attach/snapshot/thread_facts.h"
#include "record/procfs/blocked/wait_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SNAPSHOT_TEXT_BYTES = 160, SNAPSHOT_PROBLEM_BYTES = 352 };

struct snapshot_thread {
    pid_t tid;
    struct thread_facts facts;
    bool is_waiting; /* the members down to polled are valid */
    enum wait_kind kind;
    char call[24];                    /* system call; "": unknown, or none */
    int descriptor;                   /* -1: none */
    char object[SNAPSHOT_TEXT_BYTES]; /* behind the descriptor; "": unknown */
    uint64_t futex_avma;              /* 0: none */
    pid_t holder;                     /* of a mutex; 0: unknown */
    pid_t child;                      /* awaited; 0: any, or unknown */
    uint32_t polled;                  /* descriptors of poll() */
    bool is_starved;                  /* runnable, without a processor for age_ns */
    uint64_t age_ns;                  /* off the processor since; WAIT_AGE_UNKNOWN */
    bool has_stack;                   /* a sample in the capture */
    bool is_complete;
    int stop_error;                       /* of a requested stop: 0, or a negative errno */
    int signal;                           /* of a core file: that ended the process; or 0 */
    bool is_inferred;                     /* a frame pointer was inferred */
    char problem[SNAPSHOT_PROBLEM_BYTES]; /* why there is no stack, or no complete one; "": none */
};

struct snapshot {
    pid_t pid;
    pid_t inner_pid; /* in the pid namespace of the process; 0: the same as here */
    char name[16];
    struct snapshot_thread *threads; /* the main thread first; memory shared with the reader */
    size_t count, capacity;
    bool is_core;
    size_t torn; /* looks discarded because the thread ran meanwhile */
};

struct snapshot_request {
    pid_t pid;
    int capture_fd;          /* an empty file; -1: facts without stacks */
    uint64_t limit_ns;       /* for the whole read */
    bool is_stopping;        /* stops all threads for one instant */
    bool with_kernel_stacks; /* of waiting threads, if this process may read them */
};
