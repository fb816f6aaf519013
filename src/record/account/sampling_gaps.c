/* SPDX-License-Identifier: MIT */
#include "record/account/sampling_gaps.h"

#include "record/procfs/proc.h"
#include "wire/atomic.h"

#include <poll.h>
#include <signal.h>

/* Tolerance beyond the periods, for the process and for each of its threads. */
#define SLACK_NS 100000000
/* For a process without any sample: a few kernel intervals of 10 ms, as first samples come late. */
#define SLACK_OF_UNSEEN_NS 50000000
/* The same for each thread of an ended process whose sampler has stated the end. */
#define SLACK_OF_UNSEEN_END_NS 12000000
#define SLACK_OF_THREAD_NS 25000000
/* CPU time of a thread after its last record, in the C library and the kernel: 17 us measured, more
 * with a large stack. */
#define SLACK_OF_END_NS 100000
#define THREADS_LOOKED_AT 64
/* Twice in a row: rec itself may have been preempted between draining and looking. */
#define LOOK_INTERVAL_NS 200000000
/* Until the first sample: only a live process shows the cause. */
#define UNSEEN_LOOK_INTERVAL_NS 40000000
#define SIGHTINGS_NEEDED 2

/* An ended process has no timers any more. */
static bool has_ended(const struct process *process)
{
    struct pollfd end = {.fd = process->pid_fd, .events = POLLIN};
    return poll(&end, 1, 0) == 1;
}

/* The sampler stays in the table until the end of the process, but not in the program. */
static bool is_in_other_recording(const struct process *process)
{
    const struct process_slot *slot = process_slot(process);
    return load_relaxed(&slot->end_cpu_ns) != 0 &&
           load_relaxed(&slot->end_is_exec) == END_EXEC_OF_OTHER;
}

static enum record_blind cause_of(const struct process *process)
{
    if (is_in_other_recording(process))
        return RECORD_BLIND_ELSEWHERE;
    int number = process->engine == ENGINE_TIMER ? SIGPROF : SIGTRAP;
    struct proc_threads threads = proc_look_at_threads(process->pid, number, THREADS_LOOKED_AT);
    if (threads.blocking > 0)
        return RECORD_BLIND_BLOCKED;
    if (threads.is_unhandled)
        return RECORD_BLIND_UNHANDLED;
    if (threads.count > process->threads)
        return RECORD_BLIND_UNKNOWN_THREAD;
    if (process->engine == ENGINE_TIMER && !has_ended(process) &&
        proc_count_timers(process->pid) < threads.count)
        return RECORD_BLIND_NO_TIMER;
    return RECORD_BLIND_OTHER;
}

static bool has_samples(const struct process *process)
{
    return process->account.seen_ns != 0 || process->account.waiting_ns != 0;
}

static uint64_t slack_ns(const struct sampling_gaps *gaps, const struct process *process)
{
    uint64_t process_ns = has_samples(process) ? SLACK_NS : SLACK_OF_UNSEEN_NS;
    return process_ns + SLACK_OF_THREAD_NS * process->threads +
           SLACK_OF_END_NS * process->ended_threads + process_periods_ns(process, gaps->period_ns);
}

static bool has_gap(const struct sampling_gaps *gaps, const struct process *process)
{
    return cpu_account_gap_ns(&process->account) > slack_ns(gaps, process);
}

static uint64_t look_interval_ns(const struct process *process)
{
    return has_samples(process) || process->blind_sightings > 0 ? LOOK_INTERVAL_NS
                                                                : UNSEEN_LOOK_INTERVAL_NS;
}

/* Two suspicious looks in a row make the process blind; a look without suspicion starts over. */
void sampling_gaps_check(struct sampling_gaps *gaps, struct process *process)
{
    if (process->engine == ENGINE_NONE || gaps->round->is_quiet)
        return;
    bool is_due = gaps->round->now_ns >= process->blind_due_ns;
    if (is_due)
        process->blind_due_ns = gaps->round->now_ns + look_interval_ns(process);
    bool is_suspect = is_due && has_gap(gaps, process);
    if (is_suspect || untracked_threads_are_due(gaps->untracked, process))
        untracked_threads_look(gaps->untracked, process);
    if (process->is_blind || !is_due)
        return;
    /* Time of untracked threads has been written by now. */
    is_suspect = is_suspect && has_gap(gaps, process);
    process->blind_sightings = is_suspect ? process->blind_sightings + 1 : 0;
    if (is_suspect)
        process->blind_cause = cause_of(process);
    process->is_blind = process->blind_sightings >= SIGHTINGS_NEEDED;
}

/* A zombie still shows its signal mask; without a zombie, the sampler has stated the mask. */
static enum record_blind cause_at_end(const struct process *process)
{
    return load_relaxed(&process_slot(process)->end_is_blocked) ? RECORD_BLIND_BLOCKED
                                                                : cause_of(process);
}

/* Without a stated end, the gap may be the teardown of the address space. */
static uint64_t slack_of_unseen_end_ns(const struct sampling_gaps *gaps,
                                       const struct process *process)
{
    if (load_relaxed(&process_slot(process)->end_cpu_ns) == 0)
        return slack_ns(gaps, process);
    uint64_t threads = process->threads ? process->threads : 1;
    return SLACK_OF_UNSEEN_END_NS * threads + process_periods_ns(process, gaps->period_ns);
}

bool sampling_gaps_at_end(const struct sampling_gaps *gaps, struct process *process,
                          uint64_t own_ns)
{
    if (is_in_other_recording(process)) {
        process->blind_cause = RECORD_BLIND_ELSEWHERE;
        return true;
    }
    bool ends_unseen = process->engine != ENGINE_NONE && !gaps->round->is_quiet &&
                       !has_samples(process) && own_ns > slack_of_unseen_end_ns(gaps, process);
    if (process->blind_sightings == 0 && !process->is_blind)
        process->blind_cause = ends_unseen ? cause_at_end(process) : RECORD_BLIND_OTHER;
    return process->is_blind || ends_unseen;
}
