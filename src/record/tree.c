/* SPDX-License-Identifier: MIT */
/*
 * What the kernel bills a tree of processes. The command's own bill (rusage) holds it and every descendant
 * that was waited for. Not in it:
 *
 *     those that still run                    their own CPU time, and that of the children they waited for
 *     those that were left to init (daemons)  the same; once they have ended, nobody else remembers it
 *
 * A process is detached when its line of parents no longer leads to the command.
 */
#include "record/collector_parts.h"

#include "record/proc.h"
#include "wire/atomic.h"

#include <unistd.h>

#define GENERATIONS_MAX 64
#define DESCENDANTS_MAX 4096

static bool leads_to_command(const struct collector *collector, pid_t pid)
{
    pid_t root_pid = load_relaxed(&collector->root_pid);
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

/* The nearest one that is followed: those in between pass on what they have waited for. */
static const struct image *find_ancestor(struct collector *collector, pid_t pid)
{
    struct proc_stat stat;
    for (int i = 0; i < GENERATIONS_MAX && pid > 1; i++) {
        const struct image *image = image_of_pid(collector, pid);
        if (image)
            return image;
        pid = proc_stat_read(&stat, pid, 0) == 0 ? stat.parent : 0;
    }
    return NULL;
}

void tree_place(struct collector *collector, struct image *image)
{
    const struct image *ancestor = find_ancestor(collector, image->parent_pid);
    image->ancestor_pid = ancestor ? ancestor->pid : 0;
    if (ancestor && ancestor->pid == image->parent_pid)
        image->is_detached = ancestor->is_detached;
    else
        image->is_detached = !leads_to_command(collector, image->pid);
}

/* Of the children that it has waited for: what it said, or, as long as it is there, the kernel. */
static uint64_t waited_ns(const struct collector *collector, const struct image *image)
{
    const struct process_slot *slot = image_slot(collector, image);
    uint64_t most_ns = (monotonic_ns() - collector->clock.first.ns) * collector->processors;
    uint64_t stated_ns = load_relaxed(&slot->children_ns);
    struct proc_stat stat;
    if (image->engine != ENGINE_NONE)
        return stated_ns < most_ns ? stated_ns : 0;
    bool is_there = !image->has_ended && proc_stat_read(&stat, image->pid, 0) == 0;
    return is_there ? stat.children_cpu_ns : 0;
}

/* Its own time, and that of children that nothing else stands for. */
static uint64_t bill_ns(const struct collector *collector, const struct image *image,
                        uint64_t own_ns)
{
    uint64_t children_ns = waited_ns(collector, image);
    uint64_t counted_ns = image->counted_children_ns;
    return own_ns + (children_ns > counted_ns ? children_ns - counted_ns : 0);
}

/* With one process all those leave that it has started. */
static void detach_descendants(struct collector *collector)
{
    bool has_changed = true;
    while (has_changed) {
        has_changed = false;
        for (size_t i = 0; i < collector->live_count; i++) {
            struct image *image = &collector->images[collector->live[i]];
            const struct image *parent = image_of_pid(collector, image->parent_pid);
            if (image->is_detached || image->has_ended || !parent || !parent->is_detached)
                continue;
            image->is_detached = true;
            has_changed = true;
        }
    }
}

/*
 * What was passed on to one that has ended is in that one's. The kernel adds all of a process' bill to its parent's,
 * also what was counted of it before:
 *
 *     a ─ b ─ c    c ends: c is counted. b ends: so is b; what it has of c was. a: what it has of b and c was.
 */
static void take_bill(struct collector *collector, const struct image *ended)
{
    struct image *ancestor = image_of_pid(collector, ended->ancestor_pid);
    if (!ancestor && load_relaxed(&image_slot(collector, ended)->bill_ns) != 0)
        return;
    uint64_t new_ns = bill_ns(collector, ended, ended->last_cpu_ns);
    collector->detached_ns += new_ns;
    if (ancestor)
        ancestor->counted_children_ns += new_ns + ended->counted_children_ns;
}

void tree_take_end(struct collector *collector, const struct image *ended)
{
    if (ended->is_detached)
        take_bill(collector, ended);
    bool has_changed = false;
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        struct proc_stat stat;
        /* One that is gone, too: most likely it was before its parent, who waited for it. */
        if (image->has_ended || image->parent_pid != ended->pid ||
            proc_stat_read(&stat, image->pid, 0) != 0)
            continue;
        image->is_detached = !leads_to_command(collector, image->pid);
        has_changed |= image->is_detached;
    }
    if (has_changed)
        detach_descendants(collector);
}

/* Its own, and that of the children that it has waited for. */
static uint64_t cpu_with_children_ns(pid_t pid)
{
    struct proc_stat stat;
    uint64_t own_ns = proc_cpu_ns(pid);
    return proc_stat_read(&stat, pid, 0) == 0 ? own_ns + stat.children_cpu_ns : own_ns;
}

/* All live descendants' part of the bill. */
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

uint64_t tree_live_ns(const struct collector *collector, bool command_runs)
{
    uint64_t sum_ns = collector->detached_ns;
    if (command_runs)
        sum_ns += subtree_ns(load_relaxed(&collector->root_pid));
    for (size_t i = 0; i < collector->live_count; i++) {
        const struct image *image = &collector->images[collector->live[i]];
        bool is_counted = image->has_ended || image->pid == collector->root_pid;
        if (!is_counted && (image->is_detached || !command_runs))
            sum_ns += bill_ns(collector, image, proc_cpu_ns(image->pid));
    }
    return sum_ns;
}
