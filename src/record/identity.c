/* SPDX-License-Identifier: MIT */
#include "record/identity.h"

#include "base/process_ids.h"
#include "record/proc.h"
#include "wire/atomic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel gives no id beyond this. */
#define IDS_MAX (4 << 20)
#define CHILDREN_MAX 4096

#define NAMESPACE_UNKNOWN UINT32_MAX

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

/* As long as nobody else makes any, ids there and here go up alike. 0: none can be guessed. */
static pid_t guess(const struct image *image, struct stated_id last, int64_t stated)
{
    int64_t ahead =
        last.here ? (int64_t)last.here - last.stated : (int64_t)image->pid - image->stated_pid;
    int64_t here = stated + ahead;
    return here > 0 && here < IDS_MAX ? (pid_t)here : 0;
}

static pid_t find_next_to(const struct collector *collector, const struct image *parent,
                          uint32_t index, const struct process_slot *request)
{
    pid_t pid = guess(parent, parent->last_child, request->pid);
    return pid && look(collector, pid, index, request) == IS_OWNER ? pid : 0;
}

static pid_t find_in_list(const struct collector *collector, const struct image *parent,
                          uint32_t index, const struct process_slot *request)
{
    pid_t pids[CHILDREN_MAX];
    size_t count = proc_children(parent->pid, pids, CHILDREN_MAX);
    for (size_t i = 0; i < count; i++)
        if (look(collector, pids[i], index, request) == IS_OWNER)
            return pids[i];
    return 0;
}

static pid_t find_child(struct collector *collector, uint32_t index,
                        const struct process_slot *request)
{
    if (request->copy_of == 0 || request->copy_of > SESSION_PROCESSES)
        return 0;
    struct image *parent = &collector->images[request->copy_of - 1];
    pid_t pid = parent->in_use ? find_next_to(collector, parent, index, request) : 0;
    if (!pid && parent->in_use)
        pid = find_in_list(collector, parent, index, request);
    if (pid)
        parent->last_child = (struct stated_id){pid, (pid_t)request->pid};
    return pid;
}

/* The newest have the last places. */
static pid_t find_anywhere(const struct collector *collector, uint32_t index,
                           const struct process_slot *request)
{
    size_t count;
    pid_t found = 0, *pids = proc_list("/proc", &count);
    while (!found && count-- > 0)
        if (look(collector, pids[count], index, request) == IS_OWNER)
            found = pids[count];
    free(pids);
    return found;
}

/* 0: the launcher's own. */
static uint32_t namespace_of(const struct collector *collector, pid_t pid)
{
    uint32_t namespace = proc_namespace(pid);
    if (namespace == 0)
        return NAMESPACE_UNKNOWN;
    return namespace == collector->session->tables->header.launcher_namespace ? 0 : namespace;
}

/* Of a process that has other ids here than it states. */
static void look_at_namespaces(const struct collector *collector, struct identity *identity)
{
    pid_t ids[PROCESS_NAMESPACES_MAX], parents_ids[PROCESS_NAMESPACES_MAX];
    struct proc_stat stat;
    identity->parent_pid = proc_stat_read(&stat, identity->pid, 0) == 0 ? stat.parent : 0;
    identity->namespace = namespace_of(collector, identity->pid);
    identity->parents_namespace = namespace_of(collector, identity->parent_pid);
    size_t count = process_ids(identity->pid, 0, ids, PROCESS_NAMESPACES_MAX);
    size_t depth = process_ids(identity->parent_pid, 0, parents_ids, PROCESS_NAMESPACES_MAX);
    if (depth > 0 && depth <= count)
        identity->pid_for_parent = ids[depth - 1];
}

bool identity_find(struct collector *collector, uint32_t index, const struct process_slot *request,
                   struct proc_maps *mappings, struct identity *identity)
{
    *identity = (struct identity){.pid = (pid_t)request->pid,
                                  .parent_pid = (pid_t)request->parent_pid,
                                  .stated_pid = (pid_t)request->pid};
    enum owner stated = look(collector, identity->pid, index, request);
    identity->is_marked = stated == IS_OWNER;
    if (identity->is_marked)
        return true;
    if (stated == IS_HIDDEN && answers_map_of_member(collector, identity->pid, mappings))
        return true;
    proc_maps_free(mappings);
    pid_t pid = find_known(collector, index, request);
    if (!pid)
        pid = find_child(collector, index, request);
    if (!pid)
        pid = find_anywhere(collector, index, request);
    if (!pid)
        return false;
    identity->pid = pid;
    identity->is_marked = true;
    look_at_namespaces(collector, identity);
    return true;
}

/* What a thread is called inside; 0: it is gone. */
static pid_t inner_tid(const struct image *image, pid_t tid)
{
    pid_t ids[PROCESS_NAMESPACES_MAX];
    size_t depth = process_ids(image->pid, tid, ids, PROCESS_NAMESPACES_MAX);
    return depth ? ids[depth - 1] : 0;
}

/* Threads are listed, and have got their ids, in the order in which they were made: in both namespaces. */
static pid_t find_thread_in_list(const struct image *image, pid_t stated_tid)
{
    char path[64];
    size_t low = 0, high;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)image->pid);
    pid_t found = 0, *tids = proc_list(path, &high);
    while (!found && low < high) {
        size_t middle = low + (high - low) / 2, at = middle;
        pid_t inner = 0;
        while (at < high && (inner = inner_tid(image, tids[at])) == 0)
            at++;
        if (inner == 0 || inner > stated_tid)
            high = middle;
        else if (inner < stated_tid)
            low = at + 1;
        else
            found = tids[at];
    }
    free(tids);
    return found;
}

static pid_t find_thread(struct image *image, pid_t stated_tid)
{
    pid_t tid = guess(image, image->last_thread, stated_tid);
    if (!tid || inner_tid(image, tid) != stated_tid)
        tid = find_thread_in_list(image, stated_tid);
    if (tid)
        image->last_thread = (struct stated_id){tid, stated_tid};
    return tid;
}

pid_t identity_of_thread(struct collector *collector, struct image *image,
                         const struct thread_slot *slot)
{
    pid_t stated_tid = (pid_t)load_relaxed(&slot->tid);
    bool is_there = load_acquire(&slot->state) == THREAD_ACTIVE;
    if (image->pid == image->stated_pid)
        return stated_tid;
    if (stated_tid == image->stated_pid)
        return image->pid;
    bool is_tid = stated_tid > 0 && stated_tid < IDS_MAX;
    pid_t tid = is_there && is_tid ? find_thread(image, stated_tid) : 0;
    return tid ? tid : (pid_t)(IDS_MAX + ++collector->made_up_tids);
}
