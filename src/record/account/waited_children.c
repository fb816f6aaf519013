/* SPDX-License-Identifier: MIT */
#include "record/account/waited_children.h"

#include "wire/atomic.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

/* Shorter children stay in the command's [not followed]. */
#define UNMET_LEAST_NS 2000000

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
static bool pass_on(struct process_table *processes, const struct process *waiter, pid_t pid,
                    uint64_t rusage_ns)
{
    bool is_found = false;
    for (size_t i = 0; i < processes->live_count; i++) {
        struct process *child = process_table_at(processes, i);
        if (!is_called(child, waiter, pid) || !may_wait(processes, waiter, child))
            continue;
        child->rusage_ns = rusage_ns;
        is_found = true;
    }
    return is_found;
}

/* The pid of a child without a rusage passed on that is gone; 0: none. system() and pclose() wait
 * inside the C library, so the sampler passes on a rusage without a pid. */
static pid_t find_gone_child(const struct process_table *processes, const struct process *waiter)
{
    for (size_t i = 0; i < processes->live_count; i++) {
        const struct process *child = &processes->processes[processes->live[i]];
        if (child->parent_pid == waiter->pid && child->rusage_ns == 0 && kill(child->pid, 0) != 0 &&
            errno == ESRCH)
            return process_called_by(child, waiter);
    }
    return 0;
}

/* The rusage holds the CPU time of the child's own children; some have accounts of their own. */
static bool has_known_child(const struct process_tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->processes->live_count; i++)
        if (process_table_at(tree->processes, i)->parent_pid == pid)
            return true;
    return ended_children_has_parent(&tree->ended, pid);
}

/* pid: not of another pid namespace, where it means another process here. */
static void note_unmet(struct process_tree *tree, const struct process *waiter, pid_t pid,
                       uint64_t rusage_ns)
{
    uint64_t now_ns = tree->round->now_ns;
    uint64_t most_ns = (now_ns - waiter->start_ns) * tree->processors;
    bool is_ours =
        !tree->command_only && waiter->stated_pid == waiter->pid && waiter->engine != ENGINE_NONE;
    if (!is_ours || rusage_ns < UNMET_LEAST_NS || rusage_ns > most_ns || has_known_child(tree, pid))
        return;
    struct unmet_child child = {
        .pid = pid, .parent_pid = waiter->pid, .rusage_ns = rusage_ns, .waited_ns = now_ns};
    memcpy(child.name, waiter->name, sizeof(child.name));
    ended_children_add_unmet(&tree->ended, &child);
}

static void take(struct process_tree *tree, const struct process *waiter,
                 const struct waited_child *child)
{
    uint64_t rusage_ns = load_relaxed(&child->rusage_ns);
    pid_t pid = (pid_t)load_relaxed(&child->pid);
    if (pid == 0)
        pid = find_gone_child(tree->processes, waiter);
    bool is_met = pid > 0 && pass_on(tree->processes, waiter, pid, rusage_ns);
    is_met |= ended_children_take(&tree->ended, waiter->pid, pid);
    if (!is_met && pid > 0)
        note_unmet(tree, waiter, pid, rusage_ns);
}

/* The sampler counts first, then writes the entry, and its number last: a smaller number means that
 * the entry is being written, a larger number that a later child has overwritten the entry. */
void waited_children_take(struct process_tree *tree, struct process *waiter)
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
            take(tree, waiter, child);
    }
}
