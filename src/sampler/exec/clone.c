/* SPDX-License-Identifier: MIT */
/*
 * Processes made without fork(), by sandboxes and containers: in new namespaces, by clone() or the
 * bare system call. They are copies like forked children, and join in the same way.
 *
 *     syscall(SYS_clone, flags, NULL)      returns in the child, on a copy of the stack
 *     clone(run, stack, flags)             the child begins in run(), on the given stack
 *
 * The size of the given stack is unknown. A stack inside the caller's own stack has only dead data
 * of the thread below. If its distance to the caller's frame is large enough for a sample
 * (PTHREAD_STACK_MIN, as sandboxes use), the child joins. A child on another stack is not sampled.
 *
 * A thread with the program's own thread-local memory is not sampled either: it begins with the
 * sampler's signal blocked.
 */
#include "sampler/exec/clone.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/state.h"
#include "sampler/process/start.h"
#include "sampler/signals/kernel_action.h"
#include "sampler/signals/mask.h"

#include <sched.h>
#include <sys/syscall.h>

#define ROOM_BYTES (UINT64_C(16) << 10)

static bool makes_copy(unsigned long flags)
{
    return !(flags & (CLONE_VM | CLONE_THREAD | CLONE_SETTLS));
}

/* The thread inherits the perf event. Without the C library's thread-local memory the handler
 * must not run. */
static bool makes_own_thread(unsigned long flags)
{
    return flags & CLONE_THREAD && flags & CLONE_SETTLS;
}

bool clone_is_fork(long number, long flags, long stack)
{
    bool is_fork = number == SYS_fork ||
                   (number == SYS_clone && makes_copy((unsigned long)flags) && stack == 0);
    return is_fork && process_is_followed();
}

struct child {
    int (*run)(void *);
    void *argument;
};

static int run_child(void *argument)
{
    struct child child = *(struct child *)argument;
    process_join_after_fork();
    return child.run(child.argument);
}

/* In the caller's stack, with room for a sample above the dead data below the frame. */
static bool is_in_own_stack(const void *stack, const void *frame)
{
    const struct thread_state *thread = thread_self;
    uint64_t avma = (uint64_t)(uintptr_t)stack;
    return thread && avma <= thread->stack_end_avma &&
           avma >= (uint64_t)(uintptr_t)frame + ROOM_BYTES;
}

typedef int clone_function(int (*)(void *), void *, int, void *, void *, void *, void *);
HOOK int clone_hook(int (*run)(void *), void *stack, int flags, void *argument, void *parent_tid,
                    void *tls, void *child_tid)
{
    clone_function *next = (clone_function *)next_symbol(NEXT_INDEX_clone);
    if (makes_own_thread((unsigned long)flags) && process.engine == ENGINE_PERF_TRAP) {
        uint64_t mask = mask_block_ours();
        int tid = next(run, stack, flags, argument, parent_tid, tls, child_tid);
        kernel_mask_change(SIG_SETMASK, mask);
        return tid;
    }
    if (!run || !makes_copy((unsigned long)flags) || !process_is_followed() ||
        !is_in_own_stack(stack, __builtin_frame_address(0)))
        return next(run, stack, flags, argument, parent_tid, tls, child_tid);
    struct child child = {run, argument}; /* in the child, too */
    return next(run_child, stack, flags, &child, parent_tid, tls, child_tid);
}
