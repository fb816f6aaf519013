/* SPDX-License-Identifier: MIT */
/*
 * A look at a thread of another process that is off the processor. Nothing is stopped or signalled:
 *
 *     schedstat ─▶ syscall ─▶ stack, in steps ─▶ schedstat again ─▶ callchain
 *                  SP, PC     process_vm_readv   equal number of turns: the thread did not run,
 *                  [kernel stack, for root]      so all of it belongs together
 *
 * Of the registers only SP, PC and the arguments of the system call are known. A frame pointer that
 * a CFA depends on is inferred by the unwinder (unwind/offline.h).
 */
#pragma once

#include "base/containers/two_way_cache.h"
#include "record/jit/jit_frames.h"
#include "record/procfs/blocked/kernel_stack.h"
#include "record/procfs/blocked/remote_stack.h"
#include "record/procfs/blocked/thread_files.h"
#include "record/procfs/blocked/map_lookup.h"
#include "unwind/offline.h"
#include "wire/records.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum look_result {
    LOOK_STACK,     /* frames are valid, maybe an incomplete stack */
    LOOK_RUNNING,   /* on a processor, or runnable */
    LOOK_TORN,      /* the thread ran during the look: discarded */
    LOOK_STACKLESS, /* kernel thread, or worker of io_uring: no user stack */
    LOOK_FAILED,    /* `error`: -ESRCH: ended; -EPERM, -EACCES: no right to trace the process */
};

enum { LOOK_FRAMES_MAX = 1024 };

struct blocked_looker {
    struct remote_stack stack;
    struct remote_stack interrupted; /* by a signal with a handler on an alternate stack */
    struct two_way_cache rules;
    struct unwind_cache walks;
    struct caller_cache callers;
    struct jit_frames jit;
    bool is_put_off; /* as in map_lookup.h, of any walk since the caller cleared it */
    uint64_t frames[LOOK_FRAMES_MAX];           /* of the latest look */
    char kernel_stack[KERNEL_STACK_TEXT_BYTES]; /* of the latest look; "": none */
};

/* The process of a thread. */
struct look_process {
    pid_t pid;
    struct module_cache *modules;
    const struct process_map *map;
    uint64_t generation; /* changes with the map; not 0 */
};

/* What a walk came to. */
struct look_end {
    uint32_t frame_count; /* in the looker's frames, innermost first */
    uint32_t before_gap;  /* of these, inside of a step that may leave out callers; 0: none */
    bool is_complete;     /* the walk reached a root, and nothing is guessed */
    enum offline_end why; /* of an incomplete stack */
};

struct blocked_look {
    enum look_result result;
    int error;
    struct run_account account; /* before the look */
    struct blocked_call call;
    struct look_end end;
    uint32_t inferred_fps; /* frame pointers inferred on the way */
};

struct blocked_look blocked_look(struct blocked_looker *looker, const struct look_process *process,
                                 const struct thread_files *files);

/* The same for a thread that cannot run, from registers of any number. `call` stays empty. */
struct blocked_look blocked_look_from(struct blocked_looker *looker,
                                      const struct look_process *process,
                                      const struct full_regs *regs);

/* Walks a copied stack from these registers. */
struct look_end blocked_looker_walk(struct blocked_looker *looker,
                                    const struct look_process *process,
                                    const struct full_regs *regs, const struct stack_view *stack);

void blocked_looker_free(struct blocked_looker *looker);
