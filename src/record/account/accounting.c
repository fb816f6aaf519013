/* SPDX-License-Identifier: MIT */
#include "record/account/accounting.h"

#include "record/procfs/proc.h"
#include "wire/atomic.h"

static void settle(struct accounting *accounting, struct process *process, enum synthetic kind,
                   uint64_t weight_ns, uint64_t time_ns)
{
    sample_write_synthetic(accounting->samples, process, process->pid, kind, weight_ns, time_ns);
}

/* Splits a rest of CPU time at the end of the program's own code, stated by its sampler. */
static struct cpu_rest split(const struct process *process, uint64_t rest_ns, uint64_t settled_ns)
{
    return cpu_account_split(rest_ns, settled_ns, load_relaxed(&process_slot(process)->end_cpu_ns));
}

/* Time without samples is lost, for the cause found. */
static void write_lost(struct accounting *accounting, struct process *process, uint64_t rest_ns,
                       uint64_t time_ns)
{
    settle(accounting, process, SYNTHETIC_LOST, rest_ns, time_ns);
    accounting->samples->summary->blind_ns[process->blind_cause] += rest_ns;
}

/* The list in the summary, beside the samples in the file. */
static void add_cpu_not_followed(struct accounting *accounting, pid_t pid, uint64_t cpu_ns)
{
    record_processes_add_cpu(&accounting->samples->summary->not_followed, pid, cpu_ns);
}

/* The gap between the replaced program and its successor. */
static void settle_exec(struct accounting *accounting, struct process *process,
                        struct process *before, uint64_t gap_ns, uint64_t settled_ns)
{
    uint64_t before_ns = process->start_ns - 1;
    if (before->engine == ENGINE_NONE) {
        sample_write_synthetic(accounting->samples, before, process->pid, SYNTHETIC_NOT_FOLLOWED,
                               gap_ns, before_ns);
        add_cpu_not_followed(accounting, process->pid, before->account.seen_ns);
        return;
    }
    struct cpu_rest rest = split(before, gap_ns, settled_ns);
    if (sampling_gaps_at_end(accounting->gaps, before, rest.between_ns)) {
        write_lost(accounting, before, gap_ns, before_ns);
        return;
    }
    settle(accounting, before, SYNTHETIC_BETWEEN, rest.between_ns, before_ns);
    settle(accounting, process, SYNTHETIC_EXEC, rest.after_ns, process->start_ns);
    process->account.seen_ns -= rest.after_ns; /* before start_cpu_ns */
}

/* CPU time before start_cpu_ns without a sample: the exec and the dynamic linking of this program
 * and, after another program of the process, the end of that program. */
void accounting_start(struct accounting *accounting, struct process *process,
                      struct process *before, uint64_t earlier_ns)
{
    uint64_t settled_ns = earlier_ns + (before ? cpu_account_settled_ns(&before->account) : 0);
    if (process->account.start_cpu_ns <= settled_ns)
        return;
    uint64_t gap_ns = process->account.start_cpu_ns - settled_ns;
    if (before) {
        settle_exec(accounting, process, before, gap_ns, settled_ns);
        return;
    }
    settle(accounting, process, SYNTHETIC_EXEC, gap_ns, process->start_ns);
    process->account.seen_ns -= gap_ns; /* before start_cpu_ns */
}

/* The passed-on rusage, less the children waited for by the process itself. 0: none, or impossible.
 * Both figures come from targets, so the kernel's figure of the last look bounds the result: since
 * then, at most all processors can have worked for the process. */
static uint64_t passed_on_ns(const struct accounting *accounting, const struct process *process)
{
    uint64_t children_ns = load_relaxed(&process_slot(process)->children_ns);
    uint64_t own_ns = process->rusage_ns > children_ns ? process->rusage_ns - children_ns : 0;
    uint64_t since_look_ns = monotonic_ns() - process->account.looked_ns;
    uint64_t most_ns = process->account.last_cpu_ns + since_look_ns * accounting->processors;
    return own_ns < most_ns ? own_ns : 0;
}

/* The event's count differs from the rusage: it includes time of hypervisor and interrupts (1 to
 * 3 % more on a busy machine). The count therefore covers only the time since the last look at
 * both. */
static uint64_t counted_ns(const struct process *process)
{
    if (process->event.count == 0)
        return 0;
    return cpu_account_by_count_ns(&process->account, perf_event_count_ns(&process->event));
}

/* A passed-on rusage comes first: the pid may belong to another process by now. */
static uint64_t rusage_ns(const struct accounting *accounting, const struct process *process)
{
    uint64_t passed_ns = passed_on_ns(accounting, process);
    return passed_ns ? passed_ns : proc_cpu_ns(process->pid);
}

bool accounting_has_rusage(const struct accounting *accounting, const struct process *process)
{
    return rusage_ns(accounting, process) != 0;
}

/* The process executed a program without a handshake, and ended before the detection. */
static bool became_untracked(const struct process *process)
{
    const struct process_slot *slot = process_slot(process);
    return load_relaxed(&slot->end_cpu_ns) != 0 && load_relaxed(&slot->end_is_exec) != 0;
}

/* Of the time between samples: periods counted in threads without a slot. */
static uint64_t slotless_ns(const struct accounting *accounting, const struct process *process,
                            uint64_t between_ns)
{
    const struct process_slot *slot = process_slot(process);
    uint64_t periods = load_relaxed(&slot->lost_no_thread);
    uint64_t period_ns = accounting->samples->period_ns;
    if (load_relaxed(&slot->lost_no_thread_slot) == 0)
        return 0;
    return periods < between_ns / period_ns ? periods * period_ns : between_ns;
}

/*
 * Writes the CPU time without samples as synthetic samples:
 *
 *     a sampling gap at the end       all [lost], with the cause
 *     never sampled (ENGINE_NONE)     all [not followed]
 *     up to the program's own end     [lost] in threads without a slot, the rest [between samples]
 *     behind the program's own end    [exit], or [not followed] after an exec without a handshake
 */
static void close_account(struct accounting *accounting, struct process *process, uint64_t end_ns)
{
    uint64_t rest_ns = cpu_account_gap_ns(&process->account);
    if (rest_ns == 0)
        return;
    uint64_t settled_ns = cpu_account_settled_ns(&process->account);
    struct cpu_rest rest = split(process, rest_ns, settled_ns);
    if (sampling_gaps_at_end(accounting->gaps, process, rest.between_ns)) {
        write_lost(accounting, process, rest_ns, end_ns);
        return;
    }
    if (process->engine == ENGINE_NONE) {
        settle(accounting, process, SYNTHETIC_NOT_FOLLOWED, rest_ns, end_ns);
        add_cpu_not_followed(accounting, process->pid, rest_ns);
        return;
    }
    uint64_t lost_ns = slotless_ns(accounting, process, rest.between_ns);
    process->blind_cause = RECORD_BLIND_UNKNOWN_THREAD;
    write_lost(accounting, process, lost_ns, end_ns);
    bool is_untracked = became_untracked(process);
    settle(accounting, process, SYNTHETIC_BETWEEN, rest.between_ns - lost_ns, end_ns);
    settle(accounting, process, is_untracked ? SYNTHETIC_NOT_FOLLOWED : SYNTHETIC_EXIT,
           rest.after_ns, end_ns);
}

void accounting_leave(struct accounting *accounting, struct process *process, uint64_t cpu_ns,
                      uint64_t time_ns)
{
    process->account.last_cpu_ns = cpu_ns;
    close_account(accounting, process, time_ns);
}

/* The final figure, best first: passed on by the parent's wait, /proc of a zombie, the event's
 * count. */
void accounting_end(struct accounting *accounting, struct process *process, uint64_t end_ns)
{
    uint64_t cpu_ns = rusage_ns(accounting, process);
    cpu_account_raise(&process->account, cpu_ns ? cpu_ns : counted_ns(process));
    close_account(accounting, process, end_ns);
}
