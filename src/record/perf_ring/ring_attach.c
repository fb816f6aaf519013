/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/ring_attach.h"

#include "base/containers/array.h"
#include "base/pid_fd.h"
#include "record/perf_ring/tid_set.h"
#include "record/procfs/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* The kernel writes the FORK record of a thread shortly after the thread appears in /proc. */
#define FORK_RECORD_WAIT_NS 1000000

void ring_attach_await_forks(struct ring_source *source)
{
    const struct timespec wait = {.tv_nsec = FORK_RECORD_WAIT_NS};
    nanosleep(&wait, NULL);
    ring_source_catch_up(source);
}

/* Opens events on the threads without events. 0, or the first refusal; the number of opened threads
 * goes to *opened. */
static int open_threads(struct ring_source *source, pid_t pid, const pid_t *tids, size_t tid_count,
                        size_t *opened)
{
    char path[64];
    size_t count = 0;
    int refusal = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    pid_t *list = proc_list(path, &count);
    for (size_t i = 0; list && i < count && refusal != -EMFILE; i++) {
        if (!tid_list_includes(tids, tid_count, list[i]) ||
            ring_tasks_has_thread(&source->tasks, list[i]))
            continue;
        if (*opened % RING_ATTACH_UNTIL_DRAIN == RING_ATTACH_UNTIL_DRAIN - 1)
            ring_source_catch_up(source);
        struct ring_process *process = ring_process_find(&source->tasks.processes, pid);
        if (!process)
            break;
        struct thread_events events = source->events;
        if (process->has_fibers)
            source->stack_bytes_max = events.stack_bytes = RING_STACK_BYTES_MAX;
        int err = ring_process_open_thread(process, &events, process->events, list[i]);
        if (err == 0)
            ring_tasks_add_thread(&source->tasks, process, list[i]);
        else if (err != -ESRCH && refusal == 0)
            refusal = err;
        *opened += err == 0;
    }
    free(list);
    return refusal;
}

/* Passes over the threads until no thread is new. 0, or the first refusal when no thread could be
 * opened. */
static int attach_threads(struct ring_source *source, pid_t pid, const pid_t *tids,
                          size_t tid_count)
{
    size_t all = 0;
    int refusal = 0;
    for (int pass = 0; refusal == 0 && pass < RING_ATTACH_PASSES_MAX; pass++) {
        size_t opened = 0;
        refusal = open_threads(source, pid, tids, tid_count, &opened);
        all += opened;
        if (opened == 0)
            break;
        ring_attach_await_forks(source);
    }
    return refusal || all ? refusal : -ESRCH;
}

/* Of the descriptors, a quarter is for processes to come; of those left, a process gets a quarter:
 * with thousands of threads, one process would keep the others out of the recording. The kernel
 * gives the lowest free number, so a new descriptor shows how many are in use. */
static size_t share_of_files(int newest_fd)
{
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    const uint64_t for_events = files.rlim_cur / 4 * 3, used = (uint64_t)newest_fd;
    return used + 4 < for_events ? (size_t)((for_events - used) / 4) : 1;
}

/* The target's pidfd is checked last: the pid was never free, so ring_tasks_attach() has opened a
 * descriptor of the target. */
static int new_process(struct ring_process **out, struct ring_source *source,
                       struct attached target, bool is_in_file)
{
    struct ring_process *process = ring_tasks_attach(&source->tasks, target.pid, is_in_file);
    source->started_ns = source->round->now_ns;
    bool is_proven = target.pid_fd >= 0 && !pid_fd_is_reaped(target.pid_fd);
    int err = !process || !process->events ? -ENOMEM : is_proven ? 0 : -ESRCH;
    if (err == 0 && process->process.pid_fd < 0)
        err = -EMFILE;
    if (err && process)
        ring_process_end(&source->tasks.processes, process);
    else if (err == 0 && source->shares_files)
        process->events->most = share_of_files(process->process.pid_fd);
    *out = err ? NULL : process;
    return err;
}

int ring_attach(struct ring_source *source, struct attached target, const pid_t *tids,
                size_t tid_count)
{
    struct ring_process *process;
    int err = new_process(&process, source, target, false);
    for (size_t i = 0; err == 0 && i < tid_count; i++) {
        pid_t *place = ARRAY_PUSH(process->tids, process->tid_count, process->tid_capacity);
        if (!place)
            return -ENOMEM;
        *place = tids[i];
    }
    if (err)
        return err;
    ring_process_restart(process);
    return attach_threads(source, target.pid, tids, tid_count);
}

/* The CPU time of threads without events has no stacks. */
static void name_cut(struct ring_source *source, const struct ring_process *process)
{
    char name[64];
    const uint32_t all = proc_status_read(process->process.pid).threads;
    const uint32_t recorded = process->live_threads;
    snprintf(name, sizeof(name), "%s: %u of %u threads", process->process.name,
             all > recorded ? all - recorded : 0, all);
    record_add_not_followed(source->samples.summary, process->process.pid, name,
                            "beyond the share of the process in open files (ulimit -Hn)");
}

static int adopt(struct ring_source *source, struct ring_process *process)
{
    pid_t pid = process->process.pid;
    int err = attach_threads(source, pid, NULL, 0);
    process = ring_process_find(&source->tasks.processes, pid);
    bool is_recorded = !process || process->is_started; /* it may have ended meanwhile */
    if (!is_recorded)
        ring_process_end(&source->tasks.processes, process);
    else if (process && err == -EMFILE)
        name_cut(source, process);
    return is_recorded ? 0 : err;
}

int ring_attach_adopted(struct ring_source *source, struct attached target, bool is_in_file)
{
    struct ring_process *process;
    int err = new_process(&process, source, target, is_in_file);
    if (err)
        return err;
    ring_process_restart(process);
    return adopt(source, process);
}

/* In the file already, by the records of the sampler: neither process nor known threads count
 * twice. */
int ring_attach_taken_over(struct ring_source *source, const struct process *sampled,
                           uint64_t *cpu_ns)
{
    const struct attached target = {sampled->pid, sampled->pid_fd};
    struct ring_process *process;
    int err = new_process(&process, source, target, true);
    if (err)
        return err;
    process->has_fibers = true;
    process->sampled = sampled;
    ring_process_restart(process);
    *cpu_ns = process->process.account.start_cpu_ns;
    err = adopt(source, process);
    process = ring_process_find(&source->tasks.processes, sampled->pid);
    if (process)
        process->sampled = NULL;
    return err;
}

void ring_attach_forget(struct ring_source *source, pid_t pid)
{
    struct ring_process *process = ring_process_find(&source->tasks.processes, pid);
    if (process && process->awaits_exec)
        ring_process_end(&source->tasks.processes, process);
}

/* The events begin at the exec (enable_on_exec): the sampler of the program before counts up to
 * there. */
int ring_attach_awaiting(struct ring_source *source, struct attached target, bool is_in_file)
{
    struct ring_process *process;
    int err = new_process(&process, source, target, is_in_file);
    if (err)
        return err;
    process->awaits_exec = true;
    ring_process_restart(process);
    err = thread_events_open(&source->events, process->events, target.pid, EVENTS_AT_EXEC);
    if (err == 0 && pid_fd_is_reaped(process->process.pid_fd))
        err = -ESRCH;
    if (err)
        ring_process_end(&source->tasks.processes, process);
    else
        ring_tasks_add_thread(&source->tasks, process, target.pid);
    return err;
}

/* Forked children have the names of processes from before the recording. */
static void add_present(struct ring_source *source)
{
    size_t count = 0;
    pid_t *pids = proc_list("/proc", &count);
    for (size_t i = 0; pids && i < count; i++)
        if (!ring_process_find(&source->tasks.processes, pids[i]))
            (void)ring_tasks_attach(&source->tasks, pids[i], false);
    free(pids);
}

int ring_attach_system(struct ring_source *source, int cgroup_fd)
{
    source->system = event_set_new();
    if (!source->system)
        return -ENOMEM;
    source->system->lost = &source->tasks.lost;
    if (cgroup_fd >= 0)
        source->cgroup_fd = fcntl(cgroup_fd, F_DUPFD_CLOEXEC, 0);
    int err = system_events_open(&source->events, source->system, cgroup_fd);
    if (err == 0)
        add_present(source);
    return err;
}
