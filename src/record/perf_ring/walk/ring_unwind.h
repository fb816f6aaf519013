/* SPDX-License-Identifier: MIT */
/* Walks the copied stack of a sample while recording, so stack bytes never reach the file. */
#pragma once

#include "record/perf_ring/ring_modules.h"
#include "record/perf_ring/ring_process.h"
#include "record/perf_ring/rings/ring_record.h"
#include "record/perf_ring/walk/thread_stacks.h"
#include "record/procfs/stack_pages.h"
#include "record/sample/sample_writer.h"
#include "unwind/offline.h"

/* Of the first copies of a process. In larger copies, callchains lead beyond the end. */
#define RING_STACK_BYTES (16 << 10)

struct ring_unwinder {
    struct ring_modules *modules; /* borrowed */
    struct jit_frames *jit;       /* borrowed; NULL: JIT code is not read */
    struct two_way_cache rules;
    struct unwind_cache walks;
    struct caller_cache callers;
    struct stack_pages pages;
    struct thread_stacks stacks;
    uint64_t frames[RECORD_FRAMES_MAX]; /* of the latest walk, */
    struct offline_callers searched;    /* and its callers found by caller search */
    bool lacks_chain;                   /* a callchain would have had the walk's callers */
};

/* Sets frames, completeness and cut of the sample. False: no user registers (kernel mode of a task
 * without memory, or a 32-bit program), and the sample has no frames. */
bool ring_unwind(struct ring_unwinder *unwinder, struct ring_process *process,
                 const struct ring_record *record, struct walked_sample *sample);

void ring_unwinder_free(struct ring_unwinder *unwinder);
