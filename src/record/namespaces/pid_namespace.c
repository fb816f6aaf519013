/* SPDX-License-Identifier: MIT */
/*
 * Two translations, each with a guess before a search. Ids of a namespace grow with each new task
 * (alloc_pid() in kernel/pid.c), so the distance of the last translated pair is mostly still right:
 *
 *     process   stated pid ─ tracked processes ─ guess from the parent's last child ─
 *               children of the parent ─ all of /proc
 *     thread    guess from the last thread ─ binary search in /proc/PID/task ─ the same list anew
 *
 * A guess is proven: by the memory of the process, by NSpid of the thread (proc(5)).
 */
#include "record/namespaces/pid_namespace.h"

#include "base/process_ids.h"
#include "record/procfs/proc.h"
#include "wire/atomic.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* PID_MAX_LIMIT of the kernel (include/linux/threads.h): no id is larger. */
#define IDS_MAX (4 << 20)
#define CHILDREN_MAX 4096

#define NAMESPACE_UNKNOWN UINT32_MAX

static bool has_memory(const struct pid_namespaces *namespaces, pid_t pid,
                       const struct join_request *request, struct identity *identity)
{
    identity->memory_fd = target_memory_find(namespaces->session, pid, request);
    identity->pid = pid;
    return identity->memory_fd >= 0;
}

/* Searches the tracked processes: a process that executed another program keeps its pid. */
static bool find_known(const struct pid_namespaces *namespaces, const struct join_request *request,
                       struct identity *identity)
{
    for (size_t i = 0; i < namespaces->processes->live_count; i++) {
        const struct process *process = process_table_at(namespaces->processes, i);
        if (!process->has_ended && process->stated_pid == (pid_t)request->pid &&
            has_memory(namespaces, process->pid, request, identity))
            return true;
    }
    return false;
}

/* Between two new processes of one namespace, ids grow alike in both, as long as no other process
 * starts. 0: no guess. */
static pid_t guess(const struct process *process, struct inner_id last, int64_t stated)
{
    int64_t ahead =
        last.here ? (int64_t)last.here - last.stated : (int64_t)process->pid - process->stated_pid;
    int64_t here = stated + ahead;
    return here > 0 && here < IDS_MAX ? (pid_t)here : 0;
}

static bool find_next_to(const struct pid_namespaces *namespaces, const struct process *parent,
                         const struct join_request *request, struct identity *identity)
{
    pid_t pid = guess(parent, parent->last_child, request->pid);
    return pid && has_memory(namespaces, pid, request, identity);
}

static bool find_in_list(const struct pid_namespaces *namespaces, const struct process *parent,
                         const struct join_request *request, struct identity *identity)
{
    pid_t pids[CHILDREN_MAX];
    size_t count = proc_children(parent->pid, pids, CHILDREN_MAX);
    for (size_t i = 0; i < count; i++)
        if (has_memory(namespaces, pids[i], request, identity))
            return true;
    return false;
}

static bool find_child(struct pid_namespaces *namespaces, const struct join_request *request,
                       struct identity *identity)
{
    if (request->copy_of == 0 || request->copy_of > SESSION_PROCESSES)
        return false;
    struct process *parent = &namespaces->processes->processes[request->copy_of - 1];
    if (!parent->in_use || (!find_next_to(namespaces, parent, request, identity) &&
                            !find_in_list(namespaces, parent, request, identity)))
        return false;
    parent->last_child = (struct inner_id){identity->pid, (pid_t)request->pid};
    return true;
}

/* Newest processes first: /proc lists them last. */
static bool find_anywhere(const struct pid_namespaces *namespaces,
                          const struct join_request *request, struct identity *identity)
{
    size_t count;
    bool found = false;
    pid_t *pids = proc_list("/proc", &count);
    while (pids && !found && count-- > 0)
        found = has_memory(namespaces, pids[count], request, identity);
    free(pids);
    return found;
}

/* 0: the launcher's namespace. */
static uint32_t namespace_of(const struct pid_namespaces *namespaces, pid_t pid)
{
    uint32_t namespace = proc_namespace(pid);
    if (namespace == 0)
        return NAMESPACE_UNKNOWN;
    return namespace == namespaces->session->tables->header.launcher_namespace ? 0 : namespace;
}

/* For a process with other ids in the launcher's namespace than stated. */
static void look_at_namespaces(const struct pid_namespaces *namespaces, struct identity *identity)
{
    pid_t ids[PROCESS_NAMESPACES_MAX], parents_ids[PROCESS_NAMESPACES_MAX];
    struct proc_stat stat;
    identity->parent_pid = proc_stat_read(&stat, identity->pid, 0) == 0 ? stat.parent : 0;
    identity->namespace = namespace_of(namespaces, identity->pid);
    identity->parents_namespace = namespace_of(namespaces, identity->parent_pid);
    size_t count = process_ids(identity->pid, 0, ids, PROCESS_NAMESPACES_MAX);
    size_t depth = process_ids(identity->parent_pid, 0, parents_ids, PROCESS_NAMESPACES_MAX);
    if (depth > 0 && depth <= count)
        identity->pid_for_parent = ids[depth - 1];
}

/* Cheapest first: the stated pid is right outside of namespaces; a list of /proc comes last. */
bool pid_namespace_identify(struct pid_namespaces *namespaces, const struct join_request *request,
                            struct identity *identity)
{
    *identity = (struct identity){.stated_pid = (pid_t)request->pid};
    if (has_memory(namespaces, (pid_t)request->pid, request, identity))
        return true;
    if (!find_known(namespaces, request, identity) && !find_child(namespaces, request, identity) &&
        !find_anywhere(namespaces, request, identity))
        return false;
    look_at_namespaces(namespaces, identity);
    return true;
}

/* Of a process and a round. A thread may be younger than a list. */
enum { LISTS_MAX = 2, READS_MAX = 4096 };

static struct tid_list *list_of(struct pid_namespaces *namespaces, const struct process *process)
{
    struct tid_list *list = &namespaces->list;
    if (list->process == process && list->round_ns == namespaces->round->now_ns)
        return list;
    free(list->tids);
    *list = (struct tid_list){.process = process,
                              .round_ns = namespaces->round->now_ns,
                              .lists_left = LISTS_MAX,
                              .reads_left = READS_MAX};
    return list;
}

static bool list_again(struct tid_list *list)
{
    char path[64];
    if (list->lists_left == 0)
        return false;
    list->lists_left--;
    free(list->tids);
    snprintf(path, sizeof(path), "/proc/%d/task", (int)list->process->pid);
    list->tids = proc_list(path, &list->count);
    return true;
}

/* Tid in the innermost namespace; 0: the thread has ended, or enough has been read. */
static pid_t inner_tid(struct tid_list *list, pid_t tid)
{
    pid_t ids[PROCESS_NAMESPACES_MAX];
    if (list->reads_left == 0)
        return 0;
    list->reads_left--;
    size_t depth = process_ids(list->process->pid, tid, ids, PROCESS_NAMESPACES_MAX);
    return depth ? ids[depth - 1] : 0;
}

/* Binary search: /proc lists threads in the order of creation, so the ids grow in both
 * namespaces. */
static pid_t find_in_tids(struct tid_list *list, pid_t stated_tid)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2, at = middle;
        pid_t inner = 0;
        while (at < high && (inner = inner_tid(list, list->tids[at])) == 0)
            at++;
        if (inner == stated_tid)
            return list->tids[at];
        if (inner == 0 || inner > stated_tid)
            high = middle;
        else
            low = at + 1;
    }
    return 0;
}

/* 0: the thread is in no list as young as the call. *is_late: no such list may be made now. */
static pid_t find_thread(struct pid_namespaces *namespaces, struct process *process,
                         pid_t stated_tid, bool *is_late)
{
    struct tid_list *list = list_of(namespaces, process);
    pid_t tid = guess(process, process->last_thread, stated_tid);
    if (!tid || inner_tid(list, tid) != stated_tid)
        tid = find_in_tids(list, stated_tid);
    bool is_new = !tid && list_again(list);
    if (is_new)
        tid = find_in_tids(list, stated_tid);
    *is_late = !tid && (!is_new || list->reads_left == 0);
    if (tid)
        process->last_thread = (struct inner_id){tid, stated_tid};
    return tid;
}

/* Of a process of another user in a recording of root: with the tid of a thread of another process,
 * both threads would be one in the file. An ended thread has left a free tid. */
static bool is_own_tid(const struct pid_namespaces *namespaces, const struct process *process,
                       pid_t tid, bool has_ended)
{
    char path[32];
    if (namespaces->session->uid != 0 || process->rights.uid == 0 ||
        proc_has_thread(process->pid, tid))
        return true;
    snprintf(path, sizeof(path), "/proc/%d", (int)tid);
    return has_ended && access(path, F_OK) != 0;
}

static pid_t made_up_tid(struct pid_namespaces *namespaces)
{
    return (pid_t)(IDS_MAX + ++namespaces->made_up_tids % IDS_MAX);
}

pid_t pid_namespace_tid(struct pid_namespaces *namespaces, struct process *process,
                        const struct thread_slot *slot)
{
    pid_t stated_tid = (pid_t)load_relaxed(&slot->tid), tid = 0;
    bool is_there = load_acquire(&slot->state) == THREAD_ACTIVE, is_late = false;
    if (stated_tid == process->stated_pid)
        return process->pid;
    if (process->pid == process->stated_pid)
        return is_own_tid(namespaces, process, stated_tid, !is_there || process->gone_ns)
                   ? stated_tid
                   : made_up_tid(namespaces);
    if (is_there && stated_tid > 0 && stated_tid < IDS_MAX)
        tid = find_thread(namespaces, process, stated_tid, &is_late);
    if (tid || (is_late && process->gone_ns == 0))
        return tid;
    return made_up_tid(namespaces);
}

void pid_namespaces_free(struct pid_namespaces *namespaces)
{
    free(namespaces->list.tids);
}
