/* SPDX-License-Identifier: MIT */
/*
 * In answer(), the events of perf-ring are armed before the process goes on, so the next program is
 * recorded from the exec on. What is armed in vain is taken back:
 *
 *     REQUESTED ─ arm ─┬▶ DONE ─┬▶ exec           departures_settle() ends the entry
 *                      │        └▶ exec failed    the sampler writes NONE: disarm_own()
 *                      └▶ the process did not wait so long: disarmed at once
 */
#include "record/process/departure.h"

#include "base/pid_fd.h"
#include "record/procfs/proc.h"
#include "wire/atomic.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The pid comes from the target: only a child of the process is taken. In another pid namespace the
 * pid is unknown here, and the program is found among the untracked processes. */
static bool is_child(const struct departures *departures, const struct process *process, pid_t pid)
{
    struct proc_stat stat;
    return process->stated_pid == process->pid && pid > 0 &&
           departures->outside->config.reach == REACH_CHILDREN &&
           !process_find(departures->processes, pid) && proc_stat_read(&stat, pid, 0) == 0 &&
           stat.parent == process->pid;
}

/* The CPU time is read before the exec: everything later belongs to the recording from outside. An
 * announcement answered before (is_departing) is armed already. */
static void arm_own(struct departures *departures, struct process *process)
{
    uint64_t cpu_ns = proc_cpu_ns(process->pid);
    const struct attached target = {process->pid, process->pid_fd};
    if (process->is_departing || outside_await_exec(departures->outside, target, true) != 0)
        return;
    outside_set_parent(departures->outside, process);
    process->is_departing = true;
    process->departed_cpu_ns = cpu_ns;
}

/* The exec may have happened in between: then the events run, and departures_settle() ends the
 * entry. */
static void disarm_own(struct departures *departures, struct process *process)
{
    outside_forget(departures->outside, process->pid);
    process->is_departing = outside_awaits_exec(departures->outside, process->pid);
}

static bool arm_child(struct departures *departures, const struct process *process, pid_t pid)
{
    const struct attached child = {pid, pid_fd_open(pid)};
    bool is_armed = is_child(departures, process, pid) && !outside_has(departures->outside, pid) &&
                    outside_await_exec(departures->outside, child, false) == 0;
    if (child.pid_fd >= 0)
        close(child.pid_fd);
    return is_armed;
}

static void answer(struct departures *departures, struct process *process, uint32_t *word)
{
    const struct process_slot *slot = process_slot(process);
    pid_t pid = (pid_t)load_relaxed(&slot->departure_pid);
    bool is_own = pid == process->stated_pid, is_armed = false;
    if (is_own)
        arm_own(departures, process);
    else
        is_armed = arm_child(departures, process, pid);
    if (is_armed)
        process_tree_take_leave(departures->watch->tree, pid, process->pid);
    bool waited = swap_acq_rel(word, DEPARTURE_REQUESTED, DEPARTURE_DONE);
    if (!waited && is_own)
        disarm_own(departures, process);
    else if (!waited && is_armed)
        outside_forget(departures->outside, pid);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void departures_answer(struct departures *departures)
{
    for (size_t i = 0; i < departures->processes->live_count; i++) {
        struct process *process = process_table_at(departures->processes, i);
        uint32_t *word = &process_slot(process)->departure;
        uint32_t state = load_acquire(word);
        if (process->has_ended || process->engine == ENGINE_NONE)
            continue;
        if (state == DEPARTURE_REQUESTED)
            answer(departures, process, word);
        else if (state == DEPARTURE_NONE && process->is_departing)
            disarm_own(departures, process);
    }
}

static void settle_ends(struct departures *departures)
{
    struct ring_end end;
    while (outside_take_end(departures->outside, &end)) {
        const struct ended_child child = {
            .pid = end.pid, .parent_pid = end.parent_pid, .rusage_ns = end.cpu_ns};
        process_tree_take_outside_end(departures->watch->tree, &child, end.is_orphan);
    }
}

void departures_settle(struct departures *departures)
{
    pid_t pid;
    settle_ends(departures);
    while ((pid = outside_take_executed(departures->outside))) {
        struct process *process = process_find(departures->processes, pid);
        if (process && process->is_departing)
            process_leave(departures->watch, process, process->departed_cpu_ns);
    }
    for (size_t i = 0; i < departures->processes->live_count; i++) {
        struct process *process = process_table_at(departures->processes, i);
        if (process->is_departing && !outside_awaits_exec(departures->outside, process->pid))
            process->is_departing = false;
    }
}
