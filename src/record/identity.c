/* SPDX-License-Identifier: MIT */
#include "record/identity.h"

#include "record/proc.h"
#include "wire/atomic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel gives no id beyond this. */
#define IDS_MAX (4 << 20)
#define CHILDREN_MAX 256

enum owner { IS_OWNER, IS_OTHER, IS_HIDDEN };

/* A process may not be readable: by Yama, in a sandbox, or of another user. */
static enum owner look(const struct collector *collector, pid_t pid, uint32_t index,
                       const struct process_slot *request)
{
    struct process_mark mark = {0};
    struct iovec here = {&mark, sizeof(mark)};
    struct iovec there = {(void *)(uintptr_t)request->mark_avma, sizeof(mark)};
    ssize_t bytes = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (bytes == (ssize_t)sizeof(mark) && mark.token == collector->session->token &&
        mark.process == index)
        return IS_OWNER;
    return bytes < 0 && errno != EFAULT && errno != ESRCH ? IS_HIDDEN : IS_OTHER;
}

/* The newest have the last places. */
static pid_t last_owner(const struct collector *collector, const pid_t *pids, size_t count,
                        uint32_t index, const struct process_slot *request)
{
    while (count-- > 0)
        if (look(collector, pids[count], index, request) == IS_OWNER)
            return pids[count];
    return 0;
}

/* It may have been there before, with another program. */
static pid_t find_known(const struct collector *collector, uint32_t index,
                        const struct process_slot *request)
{
    for (size_t i = 0; i < collector->live_count; i++) {
        const struct image *image = &collector->images[collector->live[i]];
        if (!image->has_ended && image->stated_pid == (pid_t)request->pid &&
            look(collector, image->pid, index, request) == IS_OWNER)
            return image->pid;
    }
    return 0;
}

static pid_t find_child(const struct collector *collector, uint32_t index,
                        const struct process_slot *request)
{
    pid_t pids[CHILDREN_MAX];
    if (request->copy_of == 0 || request->copy_of > SESSION_PROCESSES)
        return 0;
    const struct image *parent = &collector->images[request->copy_of - 1];
    size_t count = parent->in_use ? proc_children(parent->pid, pids, CHILDREN_MAX) : 0;
    return last_owner(collector, pids, count, index, request);
}

static pid_t find_anywhere(const struct collector *collector, uint32_t index,
                           const struct process_slot *request)
{
    size_t count;
    pid_t *pids = proc_list("/proc", &count);
    pid_t pid = last_owner(collector, pids, count, index, request);
    free(pids);
    return pid;
}

static uint32_t namespace_of(const struct collector *collector, pid_t pid)
{
    uint32_t namespace = proc_namespace(pid);
    return namespace == collector->session->tables->header.launcher_namespace ? 0 : namespace;
}

/* Of a process that has other ids here than it states. */
static void look_at_namespaces(const struct collector *collector, struct identity *identity)
{
    pid_t ids[PROC_NAMESPACES_MAX], parents_ids[PROC_NAMESPACES_MAX];
    struct proc_stat stat;
    identity->parent_pid = proc_stat_read(&stat, identity->pid) == 0 ? stat.parent : 0;
    identity->namespace = namespace_of(collector, identity->pid);
    identity->parents_namespace = namespace_of(collector, identity->parent_pid);
    size_t count = proc_ids(identity->pid, 0, ids, PROC_NAMESPACES_MAX);
    size_t depth = proc_ids(identity->parent_pid, 0, parents_ids, PROC_NAMESPACES_MAX);
    if (depth > 0 && depth <= count)
        identity->pid_for_parent = ids[depth - 1];
}

bool identity_find(const struct collector *collector, uint32_t index,
                   const struct process_slot *request, struct identity *identity)
{
    *identity = (struct identity){.pid = (pid_t)request->pid,
                                  .parent_pid = (pid_t)request->parent_pid,
                                  .stated_pid = (pid_t)request->pid};
    enum owner stated = look(collector, identity->pid, index, request);
    identity->is_marked = stated == IS_OWNER;
    if (identity->is_marked)
        return true;
    pid_t pid = find_known(collector, index, request);
    if (!pid)
        pid = find_child(collector, index, request);
    if (!pid)
        pid = find_anywhere(collector, index, request);
    if (!pid)
        return stated == IS_HIDDEN; /* what it has mapped may tell */
    identity->pid = pid;
    identity->is_marked = true;
    look_at_namespaces(collector, identity);
    return true;
}

static bool is_known_thread(const struct collector *collector, const struct image *image, pid_t tid)
{
    for (size_t i = 0; i < collector->active_count; i++) {
        const struct thread_view *thread = &collector->threads[collector->active[i]];
        if (thread->image == image && thread->tid == tid)
            return true;
    }
    return false;
}

static pid_t find_thread(const struct collector *collector, const struct image *image,
                         pid_t stated_tid)
{
    char path[64];
    size_t count;
    pid_t found = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)image->pid);
    pid_t *tids = proc_list(path, &count);
    while (!found && count-- > 0) {
        pid_t ids[PROC_NAMESPACES_MAX];
        if (is_known_thread(collector, image, tids[count]))
            continue;
        size_t depth = proc_ids(image->pid, tids[count], ids, PROC_NAMESPACES_MAX);
        if (depth > 0 && ids[depth - 1] == stated_tid)
            found = tids[count];
    }
    free(tids);
    return found;
}

pid_t identity_of_thread(struct collector *collector, const struct image *image, pid_t stated_tid)
{
    if (image->pid == image->stated_pid)
        return stated_tid;
    if (stated_tid == image->stated_pid)
        return image->pid;
    pid_t tid = find_thread(collector, image, stated_tid);
    return tid ? tid : (pid_t)(IDS_MAX + ++collector->made_up_tids);
}
