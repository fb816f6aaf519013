/* SPDX-License-Identifier: MIT */
#include "record/account/waited_children.h"

#include "wire/atomic.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

/* The kernel names a child by its pid in the pid namespace of the waiting process. */
static bool is_called(const struct process *child, const struct process *waiter, pid_t pid)
{
    if (child->namespace == waiter->namespace)
        return child->stated_pid == pid;
    return child->parents_namespace == waiter->namespace && child->pid_for_parent == pid;
}

/* init, or a subreaper, waits for orphans. */
static bool may_wait(const struct process_table *processes, const struct process *waiter,
                     const struct process *child)
{
    return child != waiter &&
           (child->parent_pid == waiter->pid || !process_find(processes, child->parent_pid));
}

/* A child that executed several programs has several entries until they are removed. */
static void hand_over(struct process_table *processes, const struct process *waiter, pid_t pid,
                      uint64_t rusage_ns)
{
    for (size_t i = 0; i < processes->live_count; i++) {
        struct process *child = process_table_at(processes, i);
        if (is_called(child, waiter, pid) && may_wait(processes, waiter, child))
            child->rusage_ns = rusage_ns;
    }
}

/* The pid of a child without a rusage passed on that is gone; 0: none. */
static pid_t find_gone_child(const struct process_table *processes, const struct process *waiter)
{
    for (size_t i = 0; i < processes->live_count; i++) {
        const struct process *child = &processes->processes[processes->live[i]];
        if (child->parent_pid == waiter->pid && child->rusage_ns == 0 && kill(child->pid, 0) != 0 &&
            errno == ESRCH)
            return child->namespace == waiter->namespace ? child->stated_pid
                                                         : child->pid_for_parent;
    }
    return 0;
}

static void take(struct process_table *processes, const struct process *waiter,
                 const struct waited_child *child)
{
    uint64_t rusage_ns = load_relaxed(&child->rusage_ns);
    pid_t pid = (pid_t)load_relaxed(&child->pid);
    if (pid == 0)
        pid = find_gone_child(processes, waiter);
    if (pid > 0)
        hand_over(processes, waiter, pid, rusage_ns);
}

void waited_children_take(struct process_table *processes, struct process *waiter)
{
    const struct process_memory *memory = waiter->memory->shared;
    uint32_t count = load_acquire(&memory->process.children_waited);
    if (count - waiter->children_waited > SESSION_CHILDREN) /* the oldest are overwritten */
        waiter->children_waited = count - SESSION_CHILDREN;
    for (; waiter->children_waited != count; waiter->children_waited++) {
        const struct waited_child *child =
            &memory->children[waiter->children_waited % SESSION_CHILDREN];
        int32_t ahead = (int32_t)(load_acquire(&child->number) - waiter->children_waited - 1);
        if (ahead < 0)
            return;     /* still being written */
        if (ahead == 0) /* else overwritten */
            take(processes, waiter, child);
    }
}
