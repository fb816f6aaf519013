/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/records/off_records.h"

#include "record/off_cpu/waits/off_account.h"
#include "record/off_cpu/waits/off_windows.h"

/* The parent of the kernel's threads (kernel/kthread.c). */
enum { KTHREADD = 2 };

static void put_end(const struct off_records *records, const struct off_thread *thread,
                    uint64_t end_ns)
{
    const struct thread_run *run = &thread->run;
    uint64_t lost_ns = run->sums_ns[RUN_LOST] + run->sums_ns[RUN_UNSEEN];
    const struct off_entry entry = {.kind = OFF_ENTRY_END,
                                    .pid = thread->process->pid,
                                    .tid = thread->tid,
                                    .time_ns = end_ns,
                                    .since_ns = thread->file_ns,
                                    .lifetime_ns = end_ns - run->start_ns - lost_ns,
                                    .ends_process = thread->process->threads == 1};
    if (!records->waits->is_quiet && !records->is_listed && end_ns > run->start_ns + lost_ns)
        off_queue_put(records->waits->samples.queue, &entry, NULL, 0);
}

void off_records_end_thread(struct off_records *records, struct off_thread *thread,
                            uint64_t time_ns)
{
    struct run_interval interval = thread_run_end(&thread->run, time_ns);
    off_waits_end(records->waits, thread, &interval);
    off_account_end(thread);
    off_windows_finish(records->waits, thread);
    put_end(records, thread, interval.end_ns);
    off_thread_remove(records->tasks, thread);
}

/* A thread older than the events, or one whose FORK was lost. */
static struct off_thread *thread_of(struct off_records *records, const struct ring_record *record)
{
    struct off_thread *thread = off_thread_find(records->tasks, (pid_t)record->tid);
    return thread || records->reach == REACH_SYSTEM
               ? thread
               : off_thread_add(records->tasks, (pid_t)record->pid, (pid_t)record->tid, RUN_UNSEEN,
                                record->time_ns);
}

/* IN ends the interval off the processor and OUT begins one; a wait begins with an OUT that is no
 * preemption. */
static void take_switch(struct off_records *records, const struct ring_record *record)
{
    struct off_thread *thread = thread_of(records, record);
    struct run_interval interval;
    bool is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
    bool is_preempted = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    records->switches++;
    if (!thread)
        return;
    thread->is_active = true;
    thread->excess.turns += !is_out;
    bool is_wake = !is_out && thread->run.state == RUN_BLOCKED;
    thread->wakes += is_wake;
    if (is_wake)
        thread->wake_turn = cpu_excess_turns(&thread->excess);
    thread->preemptions += is_preempted;
    off_waits_take_base(records->waits, thread, record->time_ns);
    interval = is_out ? thread_run_out(&thread->run, is_preempted, record->time_ns)
                      : thread_run_in(&thread->run, record->time_ns);
    thread->preempted_at[cpu_excess_turns(&thread->excess) % OFF_TURNS] =
        thread->run.sums_ns[RUN_PREEMPTED];
    if (!is_out)
        thread->woken_ns += run_delay_turn(&thread->delay, thread->run.sums_ns[RUN_PREEMPTED]);
    if (interval.state == RUN_BLOCKED && thread->cut.start_ns == 0)
        thread->cut = wait_cut_begin(&records->waits->samples.ticks, interval.start_ns);
    off_waits_end(records->waits, thread, &interval);
    if (is_out && records->is_listed)
        thread->is_left_out = !records->is_listed[record->processor];
    if (thread->run.state == RUN_BLOCKED)
        off_waits_begin(records->waits, thread);
}

/* The kernel reports a new task to the events of its creator, whether or not the task inherits them
 * (perf_event_task() in kernel/events/core.c). */
static bool has_events(const struct off_records *records, const struct ring_record *fork)
{
    switch (records->reach) {
    case REACH_THREAD:
        return false;
    case REACH_PROCESS:
        return fork->pid == fork->parent_pid;
    case REACH_SYSTEM:
        return fork->parent_pid != KTHREADD;
    default:
        return true;
    }
}

/* A new thread is runnable until its first IN. */
static void take_fork(struct off_records *records, const struct ring_record *record)
{
    struct off_thread *thread = off_thread_find(records->tasks, (pid_t)record->tid);
    if (thread) /* its EXIT was lost, and the tid is in use again */
        off_records_end_thread(records, thread, record->time_ns);
    if (!has_events(records, record))
        return;
    records->starts++;
    thread = off_thread_add(records->tasks, (pid_t)record->pid, (pid_t)record->tid, RUN_PREEMPTED,
                            record->time_ns);
    if (!thread)
        return;
    thread->file_ns = record->time_ns;
    thread->is_left_out = records->is_listed;
    thread->delay.has_base = true;
    thread->excess.has_base = true;
    if (record->pid != record->parent_pid)
        thread->process->program_ns = record->time_ns;
}

static void take_exit(struct off_records *records, const struct ring_record *record)
{
    struct off_thread *thread = off_thread_find(records->tasks, (pid_t)record->tid);
    if (!thread)
        return;
    /* gone when the parent has seen the end */
    off_waits_read_last_account(records->waits, thread);
    off_notes_drop(&records->waits->notes, thread->tid);
    off_records_end_thread(records, thread, record->time_ns);
}

/* execve() ends all other threads; without an EXIT record, if one of them was the caller, which
 * gets the id of the first thread. */
static void end_others(struct off_records *records, const struct off_thread *kept, uint64_t time_ns)
{
    for (size_t i = records->tasks->count; i-- > 0 && kept->process->threads > 1;) {
        struct off_thread *thread = records->tasks->threads[i];
        if (thread != kept && thread->process == kept->process)
            off_records_end_thread(records, thread, time_ns);
    }
}

static void take_exec(struct off_records *records, const struct ring_record *record)
{
    struct off_thread *thread = off_thread_find(records->tasks, (pid_t)record->tid);
    if (thread)
        off_windows_finish(records->waits, thread);
    else
        thread = off_thread_add(records->tasks, (pid_t)record->pid, (pid_t)record->tid, RUN_ON,
                                record->time_ns);
    if (!thread)
        return;
    end_others(records, thread, record->time_ns);
    off_process_drop_map(records->tasks, thread->process);
    thread->process->is_refused = false;
    thread->process->program_ns = thread->file_ns = record->time_ns;
    const struct off_entry entry = {.kind = OFF_ENTRY_PROGRAM,
                                    .pid = (pid_t)record->pid,
                                    .tid = (pid_t)record->pid,
                                    .time_ns = record->time_ns};
    off_queue_put(records->waits->samples.queue, &entry, NULL, 0);
}

static void take_mapping(struct off_records *records, const struct ring_record *record)
{
    struct off_process *process = off_process_find(records->tasks, (pid_t)record->pid);
    if (process)
        process->is_map_old = true;
}

/* The threads of the missing records are not known. */
static void take_lost(struct off_records *records, const struct ring_record *record)
{
    records->lost += record->lost;
    for (size_t i = 0; i < records->tasks->count; i++)
        thread_run_lose(&records->tasks->threads[i]->run);
}

void off_records_take(struct off_records *records, const struct ring_record *record)
{
    switch (record->type) {
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        take_switch(records, record);
        break;
    case PERF_RECORD_FORK:
        take_fork(records, record);
        break;
    case PERF_RECORD_EXIT:
        take_exit(records, record);
        break;
    case PERF_RECORD_COMM:
        if (record->misc & PERF_RECORD_MISC_COMM_EXEC)
            take_exec(records, record);
        break;
    case PERF_RECORD_MMAP2:
        take_mapping(records, record);
        break;
    case PERF_RECORD_LOST:
        take_lost(records, record);
        break;
    default:
        break;
    }
}
