/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_tasks.h"

#include "base/containers/array.h"
#include "record/procfs/proc.h"
#include "record/sample/task_records.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENDS_AT_ONCE 64
/* The kernel takes down an address space of gigabytes in this time. */
#define AFTER_EXIT_NS 100000000
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
    process->pid_fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (process->pid_fd >= 0)
        epoll_ctl(tasks->end_fd, EPOLL_CTL_ADD, process->pid_fd, &event);
}

/* name: NULL: read from /proc. */
static struct ring_process *add_process(struct ring_tasks *tasks, pid_t pid, pid_t parent_pid,
                                        uint64_t start_ns, const char *name)
{
    struct ring_process *added = ring_process_add(&tasks->processes, pid);
    if (!added)
        return NULL;
    struct process *process = &added->process;
    process->parent_pid = parent_pid;
    process->stated_pid = pid < 0 ? pid : namespace_ids_read(pid, 0);
    process->start_ns = start_ns;
    process->rights = proc_rights_of_owner(pid);
    if (pid < 0) /* the kernel has taken the pid from the task */
        strcpy(process->name, "[exiting]");
    else if (name)
        memcpy(process->name, name, sizeof(process->name));
    else if (proc_name(pid, 0, process->name) != 0)
        strcpy(process->name, "?");
    if (!tasks->has_system)
        watch_end(tasks, process);
    return added;
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

struct ring_process *ring_tasks_attach(struct ring_tasks *tasks, pid_t pid, bool is_in_file)
{
    struct proc_stat stat = {0};
    (void)proc_stat_read(&stat, pid, 0);
    struct ring_process *process = add_process(tasks, pid, stat.parent, tasks->round->now_ns, NULL);
    if (!process)
        return NULL;
    process->events = event_set_new();
    if (process->events)
        process->events->lost = &tasks->lost;
    process->is_in_file = is_in_file;
    if (is_in_file)
        add_namespace_pid(tasks, &process->process);
    ring_maps_inherit(tasks->maps, NULL, process);
    return process;
}

static void write_start(struct ring_tasks *tasks, struct ring_process *process)
{
    if (!process->is_in_file)
        add_namespace_pid(tasks, &process->process);
    task_write_start(tasks->samples->file, &process->process, process->is_in_file);
    tasks->samples->summary->processes += !process->is_in_file;
    process->is_in_file = process->is_started = true;
}

void ring_tasks_start(struct ring_tasks *tasks, struct ring_process *process)
{
    if (!process->is_started)
        write_start(tasks, process);
}

void ring_tasks_start_before(struct ring_tasks *tasks, struct ring_process *process,
                             uint64_t record_ns)
{
    if (process->is_started || process->awaits_exec)
        return;
    process->process.start_ns = record_ns - BEFORE_RECORD_NS;
    write_start(tasks, process);
}

static void write_name(struct ring_tasks *tasks, const struct ring_process *process, pid_t tid,
                       const char *name, uint64_t time_ns)
{
    struct perfdata_task task = task_record(&process->process, tid, process->process.pid, time_ns);
    perfdata_write_comm(tasks->samples->file, &task, name, false);
}

void ring_tasks_add_thread(struct ring_tasks *tasks, struct ring_process *process, pid_t tid)
{
    char name[16];
    uint64_t start_ns = process->process.start_ns;
    if (!process->awaits_exec)
        ring_tasks_start(tasks, process);
    tid_set_put(&tasks->tids, tid, true);
    process->live_threads++;
    tasks->samples->summary->threads++;
    if (tid == process->process.pid)
        return;
    struct perfdata_task task = task_record(&process->process, tid, process->process.pid, start_ns);
    perfdata_write_fork(tasks->samples->file, &task);
    add_namespace_tid(tasks, &process->process, tid, start_ns);
    if (proc_name(process->process.pid, tid, name) == 0)
        write_name(tasks, process, tid, name, start_ns);
}

/* The kernel bills more than the samples stand for: user time between samples, and kernel time
 * where the user may not sample the kernel. */
static void settle(struct ring_tasks *tasks, struct ring_process *process, uint64_t time_ns)
{
    struct cpu_account *account = &process->process.account;
    if (tasks->kernel_only)
        tasks->samples->summary->cpu_billed_ns += account->seen_ns;
    if (tasks->has_system || tasks->kernel_only)
        return;
    uint64_t rest_ns = cpu_account_gap_ns(account);
    uint64_t used_ns = account->seen_ns + rest_ns;
    uint64_t kernel_ns = process->kernel_ns - process->start_kernel_ns;
    if (!tasks->exclude_kernel)
        kernel_ns = 0;
    if (kernel_ns > rest_ns)
        kernel_ns = rest_ns;
    sample_write_synthetic(tasks->samples, &process->process, process->process.pid,
                           SYNTHETIC_KERNEL, kernel_ns, time_ns);
    sample_write_synthetic(tasks->samples, &process->process, process->process.pid,
                           SYNTHETIC_BETWEEN, rest_ns - kernel_ns, time_ns);
    tasks->samples->summary->cpu_billed_ns += used_ns;
    tasks->cpu_ns += used_ns;
    account->last_cpu_ns = account->start_cpu_ns + used_ns;
}

static void note_end(struct ring_tasks *tasks, const struct ring_process *process)
{
    bool is_noted = !tasks->has_system && process->is_started && tasks->end_count < RING_ENDS_MAX;
    struct ring_end *end =
        is_noted ? ARRAY_PUSH(tasks->ends, tasks->end_count, tasks->end_capacity) : NULL;
    if (end)
        *end = (struct ring_end){.pid = process->process.pid,
                                 .parent_pid = process->process.parent_pid,
                                 .cpu_ns = process->process.account.last_cpu_ns,
                                 .is_orphan = process->is_orphan};
}

/* The kernel forgets the CPU time of a process once its parent has waited. The count of the events
 * remains; children inherit the events, so the count of a parent is the sum of all. */
static void look_at_end(struct ring_process *process, uint64_t now_ns)
{
    struct cpu_account *account = &process->process.account;
    ring_process_look(process, now_ns);
    if (account->looked_ns != now_ns && process->events && process->events->processes == 1)
        cpu_account_raise(account, account->start_cpu_ns + event_set_count_ns(process->events));
}

static void end_process(struct ring_tasks *tasks, struct ring_process *process, uint64_t time_ns)
{
    look_at_end(process, tasks->round->now_ns);
    process->process.gone_ns = time_ns;
    if (process->is_started) {
        settle(tasks, process, time_ns);
        task_write_exit(tasks->samples->file, &process->process, time_ns);
    }
    note_end(tasks, process);
    ring_process_end(&tasks->processes, process);
}

/* The child has the events and the map of its parent. NULL: out of memory. */
static struct ring_process *add_child(struct ring_tasks *tasks, const struct ring_record *record)
{
    struct ring_process *parent = ring_process_find(&tasks->processes, (pid_t)record->parent_pid);
    struct ring_process *child = add_process(tasks, (pid_t)record->pid, (pid_t)record->parent_pid,
                                             record->time_ns, parent ? parent->process.name : NULL);
    if (!child)
        return NULL;
    if (parent) /* readers take the child's name from the parent */
        ring_tasks_start_before(tasks, parent, record->time_ns);
    child->is_in_file = child->is_started = true; /* by the FORK that follows */
    add_namespace_pid(tasks, &child->process);
    child->events = parent ? event_set_use(parent->events) : NULL;
    if (parent)
        memcpy(child->roots, parent->roots, sizeof(child->roots));
    tasks->samples->summary->processes++;
    ring_maps_inherit(tasks->maps, parent, child);
    return child;
}

static void take_fork(struct ring_tasks *tasks, const struct ring_record *record)
{
    struct ring_process *process = ring_process_find(&tasks->processes, (pid_t)record->pid);
    struct perfdata_task task = {.pid = record->pid,
                                 .tid = record->tid,
                                 .parent_pid = record->parent_pid,
                                 .parent_tid = record->parent_tid,
                                 .time_ns = record->time_ns};
    if (record->pid != record->parent_pid) {
        if (process) /* EXIT was lost, and the pid is in use again */
            end_process(tasks, process, record->time_ns - 1);
        process = add_child(tasks, record);
    }
    if (!process || ring_tasks_has_thread(tasks, (pid_t)record->tid))
        return;
    perfdata_write_fork(tasks->samples->file, &task);
    if (record->pid == record->parent_pid)
        add_namespace_tid(tasks, &process->process, (pid_t)record->tid, record->time_ns);
    tid_set_put(&tasks->tids, (pid_t)record->tid, true);
    process->live_threads++;
    tasks->samples->summary->threads++;
}

/* execve() ends all other threads; the caller gets the id of the first thread. */
static void take_exec(struct ring_tasks *tasks, struct ring_process *process,
                      const struct ring_record *record)
{
    tid_set_put(&tasks->tids, process->process.pid, true);
    process->live_threads = 1;
    process->process.start_ns = record->time_ns;
    process->process.rights = proc_rights_of_owner(process->process.pid);
    memset(process->process.thread_root_avmas, 0, sizeof(process->process.thread_root_avmas));
    memset(process->roots, 0, sizeof(process->roots));
    ring_maps_clear(tasks->maps, process);
    if (process->awaits_exec) {
        pid_t *place = ARRAY_PUSH(tasks->executed, tasks->executed_count, tasks->executed_capacity);
        if (place)
            *place = process->process.pid;
    }
    process->awaits_exec = false;
    write_start(tasks, process);
}

static void take_name(struct ring_tasks *tasks, const struct ring_record *record)
{
    struct ring_process *process = ring_process_find(&tasks->processes, (pid_t)record->pid);
    if (!process)
        return;
    bool is_exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
    if (is_exec || record->tid == record->pid)
        snprintf(process->process.name, sizeof(process->process.name), "%s", record->text);
    if (is_exec)
        take_exec(tasks, process, record);
    else
        write_name(tasks, process, (pid_t)record->tid, record->text, record->time_ns);
}

/* Of the system, only threads with samples are known. Samples follow the EXIT, because the kernel
 * then takes the task down: ring_tasks_look() ends the process later. */
static void leave_system(struct ring_process *process, const struct ring_record *record)
{
    if (record->tid == record->pid)
        process->process.gone_ns = record->time_ns;
}

/* An EXIT has the parent of now: init, or a subreaper. Older kernels write the task itself
 * (perf_event_task_output() in kernel/events/core.c). */
static bool is_orphan(const struct ring_process *process, const struct ring_record *record)
{
    return record->parent_pid != (uint32_t)process->process.parent_pid &&
           record->parent_pid != record->pid;
}

/* The first thread may end before the others: the EXIT of the process is the EXIT of its last
 * thread. */
static void take_exit(struct ring_tasks *tasks, const struct ring_record *record)
{
    struct ring_process *process = ring_process_find(&tasks->processes, (pid_t)record->pid);
    if (!process || !(tasks->has_system || ring_tasks_has_thread(tasks, (pid_t)record->tid)))
        return;
    tid_set_put(&tasks->tids, (pid_t)record->tid, false);
    if (process->live_threads > 0)
        process->live_threads--;
    if (tasks->has_system) {
        leave_system(process, record);
        return;
    }
    if (process->live_threads == 0) {
        process->is_orphan = is_orphan(process, record);
        end_process(tasks, process, record->time_ns);
        return;
    }
    struct perfdata_task task = {.pid = record->pid,
                                 .tid = record->tid,
                                 .parent_pid = record->parent_pid,
                                 .parent_tid = record->parent_tid,
                                 .time_ns = record->time_ns};
    if (record->tid != record->pid)
        perfdata_write_exit(tasks->samples->file, &task);
}

void ring_tasks_take(struct ring_tasks *tasks, const struct ring_record *record)
{
    switch (record->type) {
    case PERF_RECORD_FORK:
        take_fork(tasks, record);
        break;
    case PERF_RECORD_COMM:
        take_name(tasks, record);
        break;
    case PERF_RECORD_EXIT:
        take_exit(tasks, record);
        break;
    default:
        break;
    }
}

/* Records of the end may still be in a ring: a process without an EXIT ends at the second look. */
static void note_gone(struct ring_tasks *tasks, struct ring_process *process)
{
    if (process->process.gone_ns)
        end_process(tasks, process, process->process.gone_ns);
    else
        process->process.gone_ns = tasks->round->now_ns;
}

static void find_ended(struct ring_tasks *tasks)
{
    struct epoll_event events[ENDS_AT_ONCE];
    int count = epoll_wait(tasks->end_fd, events, ENDS_AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        struct ring_process *process =
            ring_process_find(&tasks->processes, (pid_t)events[i].data.u64);
        if (process)
            note_gone(tasks, process);
    }
}

/* Without a pidfd: the process ended early, or no descriptor was left. */
static bool is_gone(const struct process *process)
{
    return process->pid_fd < 0 && kill(process->pid, 0) != 0 && errno == ESRCH;
}

static void end_left(struct ring_tasks *tasks, struct ring_process *process)
{
    uint64_t gone_ns = process->process.gone_ns;
    if (gone_ns && gone_ns + AFTER_EXIT_NS < tasks->round->now_ns)
        end_process(tasks, process, gone_ns + AFTER_EXIT_NS);
}

void ring_tasks_look(struct ring_tasks *tasks)
{
    struct ring_process *process = ring_process_next(&tasks->processes, NULL);
    while (process) {
        struct ring_process *next = ring_process_next(&tasks->processes, process);
        if (tasks->has_system) {
            end_left(tasks, process);
            process = next;
            continue;
        }
        ring_process_look(process, tasks->round->now_ns);
        if (is_gone(&process->process))
            note_gone(tasks, process);
        process = next;
    }
    find_ended(tasks);
}

void ring_tasks_restart(struct ring_tasks *tasks)
{
    struct ring_process *process = NULL;
    while (!tasks->has_system && (process = ring_process_next(&tasks->processes, process))) {
        ring_process_restart(process);
        event_set_restart(process->events);
    }
}

void ring_tasks_finish(struct ring_tasks *tasks)
{
    struct ring_process *process = NULL;
    while (!tasks->has_system && (process = ring_process_next(&tasks->processes, process))) {
        ring_process_look(process, tasks->round->now_ns);
        if (process->is_started)
            settle(tasks, process, tasks->round->now_ns);
    }
}
