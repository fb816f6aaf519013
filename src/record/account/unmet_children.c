/* SPDX-License-Identifier: MIT */
#include "record/account/unmet_children.h"

#include "record/sample/task_records.h"

#include <string.h>

/* Two looks at untracked processes. */
#define PATIENCE_NS 250000000

static const char reason[] =
    "ended before rec found the process: made by vfork() or clone(), or a short "
    "program without a sampler";

/* Met after all: untracked, or recorded from outside. */
static bool is_met(struct process_tree *tree, const struct unmet_child *child)
{
    return process_find(tree->processes, child->pid) ||
           ended_children_take(&tree->ended, child->parent_pid, child->pid);
}

static bool is_listed(const struct record_processes *processes, pid_t pid)
{
    for (size_t i = 0; i < processes->count; i++)
        if (processes->items[i].pid == pid)
            return true;
    return false;
}

static void write_child(struct sample_writer *samples, const struct unmet_child *child)
{
    struct record_summary *summary = samples->summary;
    struct process process = {.pid = child->pid,
                              .parent_pid = child->parent_pid,
                              .start_ns = child->waited_ns,
                              .pid_fd = -1};
    memcpy(process.name, child->name, sizeof(process.name));
    task_write_start(samples->file, &process, false);
    sample_write_synthetic(samples, &process, child->pid, SYNTHETIC_NOT_FOLLOWED, child->rusage_ns,
                           child->waited_ns);
    task_write_exit(samples->file, &process, child->waited_ns);
    summary->processes++;
    summary->threads++;
    if (!is_listed(&summary->not_followed, child->pid))
        record_add_not_followed(summary, child->pid, child->name, reason);
    record_processes_add_cpu(&summary->not_followed, child->pid, child->rusage_ns);
}

void unmet_children_write(struct process_tree *tree, struct sample_writer *samples, uint64_t now_ns)
{
    struct ended_children *children = &tree->ended;
    for (size_t i = children->unmet_count; i-- > 0;) {
        const struct unmet_child child = children->unmet[i];
        if (now_ns < child.waited_ns + PATIENCE_NS)
            continue;
        children->unmet[i] = children->unmet[--children->unmet_count];
        if (!is_met(tree, &child))
            write_child(samples, &child);
    }
}
