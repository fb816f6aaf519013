/* SPDX-License-Identifier: MIT */
#include "record/process/untracked/untracked_threads.h"

#include "record/procfs/proc.h"
#include "record/sample/task_records.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define TIME_TO_CLAIM_NS 25000000
/* Pause between two looks, for each thread; a look takes 10 to 20 us per thread. */
#define REST_NS 500000

static struct untracked_thread *find(struct untracked_threads *untracked,
                                     const struct process *process, pid_t tid)
{
    for (size_t i = 0; i < untracked->count; i++) {
        struct untracked_thread *thread = &untracked->items[i];
        if (thread->process == process && thread->tid == tid)
            return thread;
    }
    return NULL;
}

static void write_start(struct untracked_threads *untracked, const struct process *process,
                        pid_t tid)
{
    struct perfdata_task task = task_record(process, tid, process->pid, untracked->round->now_ns);
    char name[16] = {0};
    perfdata_write_fork(untracked->samples->file, &task);
    if (proc_name(process->pid, tid, name) == 0)
        perfdata_write_comm(untracked->samples->file, &task, name, false);
    untracked->samples->summary->threads++;
}

/* CPU time before the first look is written as well: the thread is new, except after --delay. */
static void see_first(struct untracked_threads *untracked, const struct process *process, pid_t tid)
{
    struct proc_stat stat;
    if (untracked->count == UNTRACKED_THREADS_MAX || proc_stat_read(&stat, process->pid, tid) != 0)
        return;
    untracked->items[untracked->count++] = (struct untracked_thread){
        .process = process,
        .tid = tid,
        .written_kernel_ns = untracked->starts_late ? stat.kernel_ns : 0,
        .written_user_ns = untracked->starts_late ? stat.user_ns : 0,
        .first_ns = untracked->round->now_ns,
        .look_ns = untracked->round->now_ns,
    };
}

/* A thread of a bare clone() that shares another thread's thread-local memory and blocks nothing is
 * sampled as the other thread. */
static bool is_sampled(const struct process *process, pid_t tid)
{
    return process->engine == ENGINE_PERF_TRAP && !proc_thread_blocks(process->pid, tid, SIGTRAP);
}

/* Writes at most the gap of the process: thread and process time are not read at the same moment.
 * Returns the weight written. */
static uint64_t write_time(struct untracked_threads *untracked, struct process *process,
                           struct untracked_thread *thread, enum synthetic kind, uint64_t grown_ns)
{
    uint64_t gap_ns = cpu_account_gap_ns(&process->account);
    uint64_t weight_ns = grown_ns < gap_ns ? grown_ns : gap_ns;
    if (weight_ns > 0 && !thread->is_written)
        write_start(untracked, process, thread->tid);
    thread->is_written |= weight_ns > 0;
    sample_write_synthetic(untracked->samples, process, thread->tid, kind, weight_ns,
                           untracked->round->now_ns);
    return weight_ns;
}

/* Kernel time has a mark of its own, and user time is lost, after the time that a thread takes to
 * claim a slot. */
static void look_at(struct untracked_threads *untracked, struct process *process,
                    struct untracked_thread *thread)
{
    struct proc_stat stat;
    struct record_summary *summary = untracked->samples->summary;
    thread->look_ns = untracked->round->now_ns;
    if (thread->look_ns - thread->first_ns < TIME_TO_CLAIM_NS ||
        proc_stat_read(&stat, process->pid, thread->tid) != 0)
        return;
    if (stat.kernel_ns > thread->written_kernel_ns) {
        uint64_t kernel_ns = write_time(untracked, process, thread, SYNTHETIC_KERNEL,
                                        stat.kernel_ns - thread->written_kernel_ns);
        thread->written_kernel_ns += kernel_ns;
        summary->cpu_unsampled_kernel_ns += kernel_ns;
    }
    if (stat.user_ns <= thread->written_user_ns || is_sampled(process, thread->tid))
        return;
    uint64_t lost_ns = write_time(untracked, process, thread, SYNTHETIC_LOST,
                                  stat.user_ns - thread->written_user_ns);
    thread->written_user_ns += lost_ns;
    summary->blind_ns[RECORD_BLIND_UNKNOWN_THREAD] += lost_ns;
}

/* A look sets look_ns of each thread found; what has an older one by then has ended. look_ns
 * UINT64_MAX: all threads of the process. */
static void end_unseen(struct untracked_threads *untracked, const struct process *process,
                       uint64_t look_ns)
{
    uint64_t end_ns = process_end_ns(process, untracked->round->now_ns);
    for (size_t i = untracked->count; i-- > 0;) {
        struct untracked_thread *thread = &untracked->items[i];
        if (thread->process != process || thread->look_ns >= look_ns)
            continue;
        struct perfdata_task task = task_record(process, thread->tid, process->pid, end_ns);
        if (thread->is_written)
            perfdata_write_exit(untracked->samples->file, &task);
        *thread = untracked->items[--untracked->count];
    }
}

void untracked_threads_look(struct untracked_threads *untracked, struct process *process)
{
    if (process->pid != process->stated_pid) /* tids in slots and in /proc differ */
        return;
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
    pid_t *tids = proc_list(path, &count);
    for (size_t i = 0; tids && i < count; i++) {
        if (tids[i] == process->pid || thread_table_has(untracked->threads, process, tids[i]))
            continue;
        struct untracked_thread *thread = find(untracked, process, tids[i]);
        if (thread)
            look_at(untracked, process, thread);
        else
            see_first(untracked, process, tids[i]);
    }
    free(tids);
    end_unseen(untracked, process, untracked->round->now_ns);
    process->untracked_threads_due_ns =
        untracked->round->now_ns + REST_NS * (uint64_t)untracked->count;
}

bool untracked_threads_are_due(const struct untracked_threads *untracked,
                               const struct process *process)
{
    if (untracked->round->now_ns < process->untracked_threads_due_ns)
        return false;
    for (size_t i = 0; i < untracked->count; i++)
        if (untracked->items[i].process == process)
            return true;
    return false;
}

void untracked_threads_end(struct untracked_threads *untracked, const struct process *process)
{
    end_unseen(untracked, process, UINT64_MAX);
}
