/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_process.h"

#include "base/pid_fd.h"
#include "record/procfs/proc.h"
#include "record/tables/maps/process_map.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static struct ring_process **bucket_of(const struct ring_processes *processes, pid_t pid)
{
    return (struct ring_process **)&processes->buckets[(uint32_t)pid % RING_PROCESS_BUCKETS];
}

void ring_process_put_off_files(struct ring_process *process, uint64_t now_ns)
{
    enum { FILES_PAUSE_NS = 1000000000 };
    if (process->files_due_ns == 0)
        process->files_due_ns = now_ns + FILES_PAUSE_NS;
}

struct ring_process *ring_process_find(const struct ring_processes *processes, pid_t pid)
{
    struct ring_process *process = *bucket_of(processes, pid);
    while (process && process->process.pid != pid)
        process = process->next_in_bucket;
    return process;
}

struct ring_process *ring_process_add(struct ring_processes *processes, pid_t pid)
{
    struct ring_process *process = calloc(1, sizeof(*process));
    struct ring_process **bucket = bucket_of(processes, pid);
    if (!process)
        return NULL;
    process->process.pid = pid;
    process->process.pid_fd = -1;
    process->next_in_bucket = *bucket;
    *bucket = process;
    processes->count++;
    return process;
}

/* Children may still use the set of events: the last user closes the descriptors. */
static void free_process(struct ring_process *process)
{
    process_map_release(process->process.map);
    event_set_release(process->events);
    if (process->process.pid_fd >= 0)
        close(process->process.pid_fd);
    free(process->tids);
    free(process);
}

void ring_process_end(struct ring_processes *processes, struct ring_process *process)
{
    struct ring_process **place = bucket_of(processes, process->process.pid);
    while (*place != process)
        place = &(*place)->next_in_bucket;
    *place = process->next_in_bucket;
    processes->count--;
    free_process(process);
}

void ring_processes_free(struct ring_processes *processes)
{
    for (size_t i = 0; i < RING_PROCESS_BUCKETS; i++)
        while (processes->buckets[i])
            ring_process_end(processes, processes->buckets[i]);
}

struct ring_process *ring_process_next(const struct ring_processes *processes,
                                       const struct ring_process *process)
{
    if (process && process->next_in_bucket)
        return process->next_in_bucket;
    size_t i = process ? (uint32_t)process->process.pid % RING_PROCESS_BUCKETS + 1 : 0;
    while (i < RING_PROCESS_BUCKETS && !processes->buckets[i])
        i++;
    return i < RING_PROCESS_BUCKETS ? processes->buckets[i] : NULL;
}

/* Recordings of the system have no pidfds; nor has a process that had ended before its first record
 * was read. */
bool ring_process_is_own(const struct ring_process *process)
{
    const struct process *identity = &process->process;
    return identity->pid_fd >= 0 ? !pid_fd_is_reaped(identity->pid_fd)
                                 : proc_existed_at(identity->pid, identity->start_ns);
}

/* Checked once the events are open: a tid from a list may belong to another process by now. */
int ring_process_open_thread(const struct ring_process *process, const struct thread_events *events,
                             struct event_set *set, pid_t tid)
{
    const struct process *identity = &process->process;
    const size_t before = set->count;
    int err = identity->pid_fd < 0 ? -ESRCH : thread_events_open(events, set, tid, EVENTS_NOW);
    if (err == 0 && (!proc_has_thread(identity->pid, tid) || pid_fd_is_reaped(identity->pid_fd))) {
        event_set_cut(set, before);
        err = -ESRCH;
    }
    return err;
}

/* Of the recorded threads, if -t chose threads; else of the process. */
static uint64_t cpu_ns(const struct ring_process *process)
{
    uint64_t sum_ns = 0;
    if (process->tid_count == 0)
        return proc_cpu_ns(process->process.pid);
    for (size_t i = 0; i < process->tid_count; i++)
        sum_ns += proc_thread_cpu_ns(process->process.pid, process->tids[i]);
    return sum_ns;
}

static uint64_t kernel_ns(const struct ring_process *process)
{
    struct proc_stat stat;
    uint64_t sum_ns = 0;
    size_t count = process->tid_count ? process->tid_count : 1;
    for (size_t i = 0; i < count; i++)
        if (proc_stat_read(&stat, process->process.pid,
                           process->tid_count ? process->tids[i] : 0) == 0)
            sum_ns += stat.kernel_ns;
    return sum_ns;
}

/* Read first: the pid of a process that is there afterwards was its own. */
void ring_process_look(struct ring_process *process, uint64_t now_ns)
{
    const uint64_t used_ns = cpu_ns(process);
    if (!ring_process_is_own(process) ||
        !cpu_account_look(&process->process.account, used_ns, now_ns))
        return;
    uint64_t system_ns = kernel_ns(process);
    if (system_ns > process->kernel_ns && ring_process_is_own(process))
        process->kernel_ns = system_ns;
}

uint64_t ring_process_restart(struct ring_process *process)
{
    struct cpu_account *account = &process->process.account;
    uint64_t now_ns = cpu_ns(process), before_ns = account->start_cpu_ns;
    cpu_account_restart(account, now_ns);
    process->start_kernel_ns = process->kernel_ns = kernel_ns(process);
    return now_ns > before_ns ? now_ns - before_ns : 0;
}
