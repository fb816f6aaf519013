/* SPDX-License-Identifier: MIT */
/*
 * How a process enters, and when its start is written to the file:
 *
 *     attached       ring_tasks_attach()     with the first thread or sample
 *     before exec    ring_tasks_attach()     at the exec, by ring_tasks_start_program()
 *     forked         ring_tasks_add_child()  at once, by the FORK
 *     never met      ring_tasks_meet()       before the record of the process
 */
#include "record/perf_ring/ring_tasks.h"

#include "base/pid_fd.h"
#include "record/procfs/proc.h"
#include "record/sample/task_records.h"
#include "record/tables/thread_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* For the records of a start: FORK, name, mappings. */
#define BEFORE_RECORD_NS 10

int ring_tasks_open(struct ring_tasks *tasks)
{
    tasks->end_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!tid_set_open(&tasks->tids))
        return -ENOMEM;
    return tasks->end_fd < 0 ? -errno : 0;
}

void ring_tasks_close(struct ring_tasks *tasks)
{
    ring_processes_free(&tasks->processes);
    tid_set_close(&tasks->tids);
    free(tasks->executed);
    free(tasks->ends);
    if (tasks->end_fd >= 0)
        close(tasks->end_fd);
    tasks->end_fd = -1;
}

bool ring_tasks_has_thread(const struct ring_tasks *tasks, pid_t tid)
{
    return tid_set_has(&tasks->tids, tid);
}

static void watch_end(struct ring_tasks *tasks, struct process *process)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)process->pid};
    process->pid_fd = pid_fd_open(process->pid);
    if (process->pid_fd >= 0)
        epoll_ctl(tasks->end_fd, EPOLL_CTL_ADD, process->pid_fd, &event);
}

/* Facts of /proc; without them, of a process that has ended. name: NULL: read from /proc. */
static void describe(struct process *process, bool is_there, const char *name)
{
    const pid_t pid = process->pid;
    process->stated_pid = pid < 0 ? pid : is_there ? namespace_ids_read(pid, 0) : 0;
    process->rights = proc_rights_of_owner(is_there ? pid : -1);
    if (pid < 0) /* the kernel has taken the pid from the task */
        strcpy(process->name, "[exiting]");
    else if (name)
        memcpy(process->name, name, sizeof(process->name));
    else if (!is_there || proc_name(pid, 0, process->name) != 0)
        strcpy(process->name, "?");
}

static struct ring_process *add_process(struct ring_tasks *tasks, pid_t pid, pid_t parent_pid,
                                        uint64_t start_ns)
{
    struct ring_process *added = ring_process_add(&tasks->processes, pid);
    if (!added)
        return NULL;
    added->process.parent_pid = parent_pid;
    added->process.start_ns = start_ns;
    if (!tasks->has_system && pid > 0)
        watch_end(tasks, &added->process);
    return added;
}

/* Of a record at start_ns: by now, the process may have ended and its pid may be in use again. The
 * descriptor is older than the proof. False: the process has ended. */
static bool describe_recorded(struct ring_process *added, const char *name)
{
    struct process *process = &added->process;
    bool is_there = process->pid > 0 && proc_existed_at(process->pid, process->start_ns);
    if (!is_there && process->pid_fd >= 0) {
        close(process->pid_fd);
        process->pid_fd = -1;
    }
    describe(process, is_there, name);
    return is_there;
}

static void add_namespace_pid(struct ring_tasks *tasks, const struct process *process)
{
    namespace_ids_add(&tasks->samples->summary->namespace_ids, process->pid, process->stated_pid,
                      process->start_ns);
}

static void add_namespace_tid(struct ring_tasks *tasks, const struct process *process, pid_t tid,
                              uint64_t start_ns)
{
    if (process->stated_pid == process->pid || process->stated_pid == 0)
        return;
    namespace_ids_add(&tasks->samples->summary->namespace_ids, tid,
                      namespace_ids_read(process->pid, tid), start_ns);
}

/* With events of the process alone; samples lost by these events count in the tasks. */
static void begin(struct ring_tasks *tasks, struct ring_process *process)
{
    process->events = event_set_new();
    if (process->events)
        process->events->lost = &tasks->lost;
    ring_maps_inherit(tasks->maps, NULL, process);
}

/* Written to the file at the first thread or sample only: a process may end during the
 * attachment. */
struct ring_process *ring_tasks_attach(struct ring_tasks *tasks, pid_t pid, bool is_in_file)
{
    struct proc_stat stat = {0};
    (void)proc_stat_read(&stat, pid, 0);
    struct ring_process *process = add_process(tasks, pid, stat.parent, tasks->round->now_ns);
    if (!process)
        return NULL;
    describe(&process->process, true, NULL);
    process->is_in_file = is_in_file;
    if (is_in_file)
        add_namespace_pid(tasks, &process->process);
    begin(tasks, process);
    return process;
}

struct ring_process *ring_tasks_meet(struct ring_tasks *tasks, const struct ring_record *record)
{
    const pid_t pid = (pid_t)record->pid;
    struct proc_stat stat = {0};
    struct ring_process *process = add_process(tasks, pid, 0, record->time_ns);
    if (!process)
        return NULL;
    if (describe_recorded(process, NULL) && proc_stat_read(&stat, pid, 0) == 0)
        process->process.parent_pid = stat.parent;
    begin(tasks, process);
    return process;
}

/* At a hand-over, the COMM of the start drops the mappings of the sampler's frames, and samples of
 * the sampler may be written later. */
static void map_synthetic_again(struct ring_tasks *tasks, struct process *process)
{
    uint64_t frames[SYNTHETICS];
    for (size_t kind = 0; kind < SYNTHETICS; kind++)
        frames[kind] = synthetic_avma((enum synthetic)kind);
    task_map_synthetic(tasks->samples->file, process, frames, SYNTHETICS, process->start_ns);
}

void ring_tasks_start_program(struct ring_tasks *tasks, struct ring_process *process)
{
    if (!process->is_in_file)
        add_namespace_pid(tasks, &process->process);
    task_write_start(tasks->samples->file, &process->process, process->is_in_file);
    if (process->sampled)
        map_synthetic_again(tasks, &process->process);
    tasks->samples->summary->processes += !process->is_in_file;
    process->is_in_file = process->is_started = true;
}

void ring_tasks_start(struct ring_tasks *tasks, struct ring_process *process)
{
    if (!process->is_started)
        ring_tasks_start_program(tasks, process);
}

/* The start must precede the record in the file: readers sort by time. */
void ring_tasks_start_before(struct ring_tasks *tasks, struct ring_process *process,
                             uint64_t record_ns)
{
    if (process->is_started || process->awaits_exec)
        return;
    process->process.start_ns = record_ns - BEFORE_RECORD_NS;
    ring_tasks_start_program(tasks, process);
}

void ring_tasks_write_name(struct ring_tasks *tasks, const struct ring_process *process, pid_t tid,
                           const char *name, uint64_t time_ns)
{
    struct perfdata_task task = task_record(&process->process, tid, process->process.pid, time_ns);
    perfdata_write_comm(tasks->samples->file, &task, name, false);
}

static void count_thread(struct ring_tasks *tasks, struct ring_process *process, pid_t tid)
{
    tid_set_put(&tasks->tids, tid, true);
    process->live_threads++;
    tasks->samples->summary->threads++;
}

void ring_tasks_add_thread(struct ring_tasks *tasks, struct ring_process *process, pid_t tid)
{
    char name[16];
    uint64_t start_ns = process->process.start_ns;
    if (!process->awaits_exec)
        ring_tasks_start(tasks, process);
    count_thread(tasks, process, tid);
    bool is_in_file = process->sampled && thread_of_tid(process->sampled, tid);
    tasks->samples->summary->threads -= is_in_file;
    if (tid == process->process.pid || is_in_file)
        return;
    struct perfdata_task task = task_record(&process->process, tid, process->process.pid, start_ns);
    perfdata_write_fork(tasks->samples->file, &task);
    add_namespace_tid(tasks, &process->process, tid, start_ns);
    if (proc_name(process->process.pid, tid, name) == 0)
        ring_tasks_write_name(tasks, process, tid, name, start_ns);
}

/* The child has the parent's events, stack roots and map until its exec, as in the kernel. */
struct ring_process *ring_tasks_add_child(struct ring_tasks *tasks, const struct ring_record *fork)
{
    struct ring_process *parent = ring_process_find(&tasks->processes, (pid_t)fork->parent_pid);
    struct ring_process *child =
        add_process(tasks, (pid_t)fork->pid, (pid_t)fork->parent_pid, fork->time_ns);
    if (!child)
        return NULL;
    (void)describe_recorded(child, parent ? parent->process.name : NULL);
    if (parent) /* readers take the child's name from the parent */
        ring_tasks_start_before(tasks, parent, fork->time_ns);
    child->is_in_file = child->is_started = true; /* by the FORK that follows */
    add_namespace_pid(tasks, &child->process);
    child->events = parent ? event_set_use(parent->events) : NULL;
    if (parent)
        memcpy(child->roots, parent->roots, sizeof(child->roots));
    tasks->samples->summary->processes++;
    ring_maps_inherit(tasks->maps, parent, child);
    return child;
}

void ring_tasks_add_forked(struct ring_tasks *tasks, struct ring_process *process,
                           const struct ring_record *fork)
{
    struct perfdata_task task = {.pid = fork->pid,
                                 .tid = fork->tid,
                                 .parent_pid = fork->parent_pid,
                                 .parent_tid = fork->parent_tid,
                                 .time_ns = fork->time_ns};
    perfdata_write_fork(tasks->samples->file, &task);
    if (fork->pid == fork->parent_pid)
        add_namespace_tid(tasks, &process->process, (pid_t)fork->tid, fork->time_ns);
    count_thread(tasks, process, (pid_t)fork->tid);
}
