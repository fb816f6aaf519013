/* SPDX-License-Identifier: MIT */
/*
 * Looks at the stacks of waiting threads, by procfs/blocked: the stack becomes a callchain with the
 * reason as its leaf, and its mappings go into the queue. For the off-CPU thread alone: a read of
 * another process' memory may hang in the kernel.
 */
#pragma once

#include "record/off_cpu/file/off_queue.h"
#include "record/off_cpu/off_tasks.h"
#include "record/off_cpu/waits/off_waits.h"
#include "record/perf_ring/ring_modules.h"
#include "record/procfs/blocked/blocked_look.h"
#include "record/procfs/blocked/wait_reason.h"

#include <stdbool.h>
#include <stdint.h>

struct look_counts {
    uint64_t looks;            /* with a stack, torn, or without */
    uint64_t torn;             /* the thread ran meanwhile */
    uint64_t running;          /* the thread did not wait any more */
    uint64_t refused;          /* no right to trace the process */
    uint64_t refused_programs; /* with such looks */
    uint64_t hanging;          /* the process hangs in the kernel, see memory_probe.h */
    uint64_t hanging_programs; /* with such looks */
    uint64_t failed;           /* for another reason: the thread has ended, in most cases */
    uint64_t stackless;        /* threads without a user stack */
    uint64_t incomplete;       /* stacks without a root */
    uint64_t inferred;         /* stacks with an inferred frame pointer */
    uint64_t guessed;          /* stacks that end with a guessed caller; also incomplete */
};

struct off_looks {
    struct off_tasks *tasks;
    struct off_queue *queue;
    struct ring_modules modules;
    struct task_directory directory;
    struct memory_probe *probe; /* owned; NULL: out of memory */
    struct off_process *probed; /* by the probe */
    struct blocked_looker looker;
    struct kernel_stacks kernel;
    struct wait_modules wait_modules;
    struct off_waits *waits;
    struct look_counts counts;
};

/* 0 or a negative errno; off_looks_close() in any case. */
int off_looks_open(struct off_looks *looks, struct open_file_cache *open_files,
                   bool with_kernel_stacks);
void off_looks_close(struct off_looks *looks);

/* Looks at a thread and keeps the result in thread->look. */
void off_look(struct off_looks *looks, struct off_thread *thread);
/* After the looks of a tick: at the next one, other processes may have the same ids. */
void off_looks_pause(struct off_looks *looks);

/* From another thread: true if the off-CPU thread hangs in a look. This thread never returns to the
 * looks. The caller may continue them in another thread, without looks at this process. */
bool off_looks_give_up(struct off_looks *looks, uint64_t now_ns);
