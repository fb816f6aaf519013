/* SPDX-License-Identifier: MIT */
#include "record/account/process_tree.h"

#include "record/procfs/proc.h"
#include "wire/atomic.h"

#include <unistd.h>

#define GENERATIONS_MAX 64
#define DESCENDANTS_MAX 4096

/* GENERATIONS_MAX bounds the walk: a pid may be used again meanwhile. */
static bool leads_to_command(const struct process_tree *tree, pid_t pid)
{
    pid_t root_pid = load_relaxed(&tree->root_pid);
    for (int i = 0; i < GENERATIONS_MAX; i++) {
        struct proc_stat stat;
        if (root_pid ? pid == root_pid : pid == getpid())
            return true;
        if (proc_stat_read(&stat, pid, 0) != 0 || stat.parent <= 1)
            return false;
        pid = stat.parent;
    }
    return false;
}

/* The nearest recorded ancestor. Processes between pass on the rusage of the children they waited
 * for. */
static const struct process *find_ancestor(struct process_tree *tree, pid_t pid)
{
    struct proc_stat stat;
    for (int i = 0; i < GENERATIONS_MAX && pid > 1; i++) {
        const struct process *process = process_find(tree->processes, pid);
        if (process)
            return process;
        pid = proc_stat_read(&stat, pid, 0) == 0 ? stat.parent : 0;
    }
    return NULL;
}

void process_tree_place(struct process_tree *tree, struct process *process)
{
    const struct process *ancestor = find_ancestor(tree, process->parent_pid);
    process->ancestor_pid = ancestor ? ancestor->pid : 0;
    if (ancestor && ancestor->pid == process->parent_pid)
        process->is_detached = ancestor->is_detached;
    else
        process->is_detached = !leads_to_command(tree, process->pid);
}

/* CPU time of waited-for children: from the sampler, or from the kernel while the process lives. */
static uint64_t waited_ns(const struct process_tree *tree, const struct process *process)
{
    const struct process_slot *slot = process_slot(process);
    uint64_t most_ns = (monotonic_ns() - round_first_ns(tree->round)) * tree->processors;
    uint64_t stated_ns = load_relaxed(&slot->children_ns);
    struct proc_stat stat;
    if (process->engine != ENGINE_NONE)
        return stated_ns < most_ns ? stated_ns : 0;
    bool is_there = !process->has_ended && proc_stat_read(&stat, process->pid, 0) == 0;
    return is_there ? stat.children_cpu_ns : 0;
}

/* CPU time of the process and of its children, less the part counted before. */
static uint64_t rusage_ns(const struct process_tree *tree, const struct process *process,
                          uint64_t own_ns)
{
    uint64_t children_ns = waited_ns(tree, process);
    uint64_t counted_ns = process->counted_children_ns;
    return own_ns + (children_ns > counted_ns ? children_ns - counted_ns : 0);
}

/* Descendants of a detached process are detached, too. */
static void detach_descendants(struct process_tree *tree)
{
    bool has_changed = true;
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < tree->processes->live_count; i++) {
            struct process *process = process_table_at(tree->processes, i);
            const struct process *parent = process_find(tree->processes, process->parent_pid);
            if (process->is_detached || process->has_ended || !parent || !parent->is_detached)
                continue;
            process->is_detached = true;
            has_changed = true;
        }
    }
}

/*
 * The kernel adds the whole rusage of a process to its parent's. counted_children_ns holds the part
 * already in detached_ns, so no CPU time is counted twice:
 *
 *     a ─ b ─ c    c ends: c is counted. b ends: b without c is counted. a ends: a without b and c.
 */
static void take_rusage(struct process_tree *tree, const struct process *ended)
{
    struct process *ancestor = process_find(tree->processes, ended->ancestor_pid);
    if (!ancestor && ended->rusage_ns != 0)
        return;
    uint64_t new_ns = rusage_ns(tree, ended, ended->account.last_cpu_ns);
    tree->detached_ns += new_ns;
    if (ancestor)
        ancestor->counted_children_ns += new_ns + ended->counted_children_ns;
}

/* Without a passed-on rusage so far. If the parent does not wait, none will come. */
static void note_end(struct process_tree *tree, const struct process *ended)
{
    const struct process *parent = process_find(tree->processes, ended->parent_pid);
    if (!parent || ended->rusage_ns != 0)
        return;
    /* Counted elsewhere: in detached_ns, or by /proc of a parent without a sampler
     * (waited_ns()). */
    bool is_counted = ended->is_detached || parent->engine == ENGINE_NONE;
    ended_children_note(
        &tree->ended,
        &(struct ended_child){
            .pid = process_called_by(ended, parent),
            .parent_pid = parent->pid,
            .rusage_ns = is_counted ? 0 : rusage_ns(tree, ended, ended->account.last_cpu_ns)});
}

/* Without a rusage: process_tree_take_outside_end() sets the figure. */
void process_tree_take_leave(struct process_tree *tree, pid_t pid, pid_t parent_pid)
{
    ended_children_note(&tree->ended, &(struct ended_child){.pid = pid, .parent_pid = parent_pid});
}

void process_tree_take_outside_end(struct process_tree *tree, const struct ended_child *ended,
                                   bool is_orphan)
{
    if (!is_orphan) {
        ended_children_set_rusage(&tree->ended, ended);
        return;
    }
    ended_children_take(&tree->ended, ended->parent_pid, ended->pid);
    tree->detached_ns += ended->rusage_ns;
}

/* A child of the ended process, reaped by now: by init, unless the parent has passed on a
 * rusage. */
static bool was_left_to_init(const struct process *ended, const struct process *child)
{
    return ended->engine != ENGINE_NONE && child->rusage_ns == 0;
}

void process_tree_take_end(struct process_tree *tree, const struct process *ended)
{
    if (ended->is_detached)
        take_rusage(tree, ended);
    note_end(tree, ended);
    tree->detached_ns += ended_children_orphan(&tree->ended, ended->pid);
    bool has_changed = false;
    for (size_t i = 0; i < tree->processes->live_count; i++) {
        struct process *process = process_table_at(tree->processes, i);
        struct proc_stat stat;
        if (process->has_ended || process->parent_pid != ended->pid)
            continue;
        if (proc_stat_read(&stat, process->pid, 0) == 0)
            process->is_detached = !leads_to_command(tree, process->pid);
        else
            process->is_detached |= was_left_to_init(ended, process);
        has_changed |= process->is_detached;
    }
    if (has_changed)
        detach_descendants(tree);
}

/* Of a process and its waited-for children. */
static uint64_t cpu_with_children_ns(pid_t pid)
{
    struct proc_stat stat;
    uint64_t own_ns = proc_cpu_ns(pid);
    return proc_stat_read(&stat, pid, 0) == 0 ? own_ns + stat.children_cpu_ns : own_ns;
}

/* Of a process and all live descendants. */
static uint64_t subtree_ns(pid_t root_pid)
{
    pid_t pids[DESCENDANTS_MAX];
    size_t count = 1;
    uint64_t sum_ns = 0;
    pids[0] = root_pid;
    for (size_t i = 0; i < count; i++) {
        sum_ns += cpu_with_children_ns(pids[i]);
        count += proc_children(pids[i], pids + count, DESCENDANTS_MAX - count);
    }
    return sum_ns;
}

/* What the kernel has not yet added to the rusage of the launcher: the live processes, and ended
 * ones without a parent of the command. */
uint64_t process_tree_live_ns(const struct process_tree *tree, bool command_runs)
{
    uint64_t sum_ns = tree->detached_ns;
    if (command_runs)
        sum_ns += subtree_ns(load_relaxed(&tree->root_pid));
    for (size_t i = 0; i < tree->processes->live_count; i++) {
        const struct process *process = process_table_at(tree->processes, i);
        /* The command's own time comes from subtree_ns() or from the launcher's wait. */
        bool is_counted = process->has_ended || process->pid == tree->root_pid;
        if (!is_counted && (process->is_detached || !command_runs))
            sum_ns += rusage_ns(tree, process, proc_cpu_ns(process->pid));
    }
    return sum_ns;
}
