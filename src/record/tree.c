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
#include "record/collector.h"

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
        if (proc_stat_read(&stat, pid) != 0 || stat.parent <= 1)
            return false;
        pid = stat.parent;
    }
    return false;
}

void tree_place(struct collector *collector, struct image *image)
{
    const struct image *parent = image_of_pid(collector, image->parent_pid);
    if (parent)
        image->is_detached = parent->is_detached;
    else
        image->is_detached = !leads_to_command(collector, image->pid);
}

/* Its own, and that of the children that it has waited for. */
static uint64_t cpu_with_children_ns(pid_t pid)
{
    struct proc_stat stat;
    uint64_t own_ns = proc_cpu_ns(pid);
    return proc_stat_read(&stat, pid) == 0 ? own_ns + stat.children_cpu_ns : own_ns;
}

void tree_take_end(struct collector *collector, const struct image *ended)
{
    if (ended->is_detached)
        collector->detached_ns += ended->last_cpu_ns;
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        struct proc_stat stat;
        /* One that is gone, too: most likely it was before its parent, who waited for it. */
        if (!image->has_ended && image->parent_pid == ended->pid &&
            proc_stat_read(&stat, image->pid) == 0)
            image->is_detached = !leads_to_command(collector, image->pid);
    }
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
            sum_ns += cpu_with_children_ns(image->pid);
    }
    return sum_ns;
}
