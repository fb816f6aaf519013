/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/walk/thread_stacks.h"

#include "record/procfs/maps/proc_maps.h"

#include <sys/syscall.h>
#include <unistd.h>

/* Threads beyond this number displace each other, and are read again. */
enum { KNOWN_MOST = 1 << 14 };

/* A later thread with this tid has another stack; ids go round the other four million first. */
struct thread_stack {
    struct two_way_cache_key key;
    uint64_t start_avma, end_avma; /* both 0: unknown */
};

static struct two_way_cache_key key_of(pid_t pid, pid_t tid)
{
    return (struct two_way_cache_key){(uint64_t)pid, (uint64_t)tid};
}

static const struct thread_stack *find(const struct thread_stacks *stacks, pid_t pid, pid_t tid)
{
    return two_way_cache_find(&stacks->known, sizeof(struct thread_stack), key_of(pid, tid));
}

/* The list: in the descriptor. 0: none. */
static uint64_t robust_list(pid_t tid)
{
    uintptr_t list;
    size_t size;
    return syscall(SYS_get_robust_list, tid, &list, &size) == 0 ? list : 0;
}

bool thread_stacks_read(struct thread_stacks *stacks, pid_t pid, pid_t tid)
{
    struct thread_stack *stack =
        find(stacks, pid, tid)
            ? NULL
            : two_way_cache_add(&stacks->known, sizeof(*stack), KNOWN_MOST, key_of(pid, tid));
    if (!stack)
        return false;
    uint64_t end_avma = robust_list(tid);
    stack->start_avma = end_avma ? proc_maps_start(tid, end_avma) : 0; /* pid: may have ended */
    stack->end_avma = stack->start_avma ? end_avma : 0;
    return true;
}

bool thread_stacks_is_known(const struct thread_stacks *stacks, pid_t pid, pid_t tid)
{
    const struct thread_stack *stack = find(stacks, pid, tid);
    return stack && stack->end_avma;
}

bool thread_stacks_is_elsewhere(const struct thread_stacks *stacks, pid_t pid, pid_t tid,
                                uint64_t sp)
{
    const struct thread_stack *stack = find(stacks, pid, tid);
    return stack && stack->end_avma && (sp < stack->start_avma || sp > stack->end_avma);
}
