/* SPDX-License-Identifier: MIT */
/*
 * Ends of processes, each taken once:
 *
 *     EXIT of the last thread    ring_ends_take(), by ring_task_records
 *     pidfd, without an EXIT     by epoll; taken at the second look
 *     of the system              EXIT of the main thread, then two looks at a dead process
 *
 * The end settles the account: CPU time without samples becomes [kernel] and [between samples].
 */
#include "record/perf_ring/ring_ends.h"

#include "base/containers/array.h"
#include "record/procfs/living_task.h"
#include "record/procfs/proc.h"
#include "record/sample/task_records.h"

#include <sys/epoll.h>

#define ENDS_AT_ONCE 64
/* Between two looks whether a process without its main thread may run. */
#define AFTER_EXIT_NS 100000000

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

void ring_ends_take(struct ring_tasks *tasks, struct ring_process *process, uint64_t time_ns)
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

/* Records of the end may still be in a ring: a process without an EXIT ends at the second look. */
static void note_gone(struct ring_tasks *tasks, struct ring_process *process)
{
    if (process->process.gone_ns)
        ring_ends_take(tasks, process, process->process.gone_ns);
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
static bool is_gone(const struct ring_process *process)
{
    const struct process *identity = &process->process;
    return identity->pid_fd < 0 && identity->pid > 0 && !ring_process_is_own(process);
}

/* After the EXIT of the main thread other threads may go on, and the address space goes: seconds of
 * samples, where other processes have the processor. */
static bool may_run(pid_t pid)
{
    struct proc_stat stat;
    bool is_dead = proc_stat_read(&stat, pid, 0) != 0 || stat.state == 'Z' || stat.state == 'X';
    return !is_dead || living_task_find(pid) != pid;
}

/* Samples of before a look may still be in a ring: the process ends at the second look that finds
 * it dead. */
static void end_left(struct ring_tasks *tasks, struct ring_process *process)
{
    uint64_t gone_ns = process->process.gone_ns, now_ns = tasks->round->now_ns;
    if (gone_ns == 0 || gone_ns + AFTER_EXIT_NS >= now_ns)
        return;
    bool was_dead = process->is_dead;
    process->is_dead = !may_run(process->process.pid);
    if (was_dead && process->is_dead)
        ring_ends_take(tasks, process, gone_ns);
    else
        process->process.gone_ns = now_ns;
}

void ring_ends_look(struct ring_tasks *tasks)
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
        if (is_gone(process))
            note_gone(tasks, process);
        process = next;
    }
    find_ended(tasks);
}

uint64_t ring_ends_restart(struct ring_tasks *tasks)
{
    uint64_t before_ns = 0;
    struct ring_process *process = NULL;
    while (!tasks->has_system && (process = ring_process_next(&tasks->processes, process))) {
        before_ns += ring_process_restart(process);
        event_set_restart(process->events);
    }
    return before_ns;
}

void ring_ends_finish(struct ring_tasks *tasks)
{
    struct ring_process *process = NULL;
    while (!tasks->has_system && (process = ring_process_next(&tasks->processes, process))) {
        ring_process_look(process, tasks->round->now_ns);
        if (process->is_started)
            settle(tasks, process, tasks->round->now_ns);
    }
}
