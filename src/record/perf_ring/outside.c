/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/outside.h"

#include "record/perf_ring/ring_growth.h"
#include "record/perf_ring/ring_ends.h"
#include "record/procfs/proc.h"
#include "wire/atomic.h"

#include <errno.h>

/* A record enters its ring shortly after its time was read. */
#define RECORD_DELAY_NS 1000000
/* Between two looks at CPU times and ends of processes. */
#define LOOK_NS 100000000
/* A round must come before this part of a ring is full. */
#define RING_PARTS 4
/* Incomplete stacks before a process is taken over, and their least part of all samples. */
#define FOREIGN_CUTS_MIN 2
#define FOREIGN_CUTS_PARTS 100

/* At the first process from outside: rings are locked memory, and most recordings need none. */
static int open_source(struct outside *outside)
{
    if (!outside->is_permitted)
        return -EPERM;
    if (outside->is_open || outside->open_error)
        return outside->open_error;
    outside->open_error = ring_source_open(&outside->source, &outside->config);
    outside->is_open = outside->open_error == 0;
    if (outside->open_error)
        ring_source_close(&outside->source);
    return outside->open_error;
}

void outside_close(struct outside *outside)
{
    if (outside->is_open)
        ring_source_close(&outside->source);
    outside->is_open = false;
}

int outside_await_exec(struct outside *outside, struct attached target, bool is_in_file)
{
    int err = open_source(outside);
    return err ? err : ring_attach_awaiting(&outside->source, target, is_in_file);
}

void outside_set_parent(struct outside *outside, const struct process *process)
{
    struct ring_process *found =
        outside->is_open ? ring_process_find(&outside->source.tasks.processes, process->pid) : NULL;
    bool is_orphan = process->is_detached && process->ancestor_pid == 0;
    if (found)
        found->process.parent_pid = is_orphan ? 0 : process->parent_pid;
}

bool outside_awaits_exec(const struct outside *outside, pid_t pid)
{
    const struct ring_process *process =
        outside->is_open ? ring_process_find(&outside->source.tasks.processes, pid) : NULL;
    return process && process->awaits_exec;
}

void outside_forget(struct outside *outside, pid_t pid)
{
    if (outside->is_open)
        ring_attach_forget(&outside->source, pid);
}

pid_t outside_take_executed(struct outside *outside)
{
    struct ring_tasks *tasks = &outside->source.tasks;
    return outside->is_open && tasks->executed_count > 0 ? tasks->executed[--tasks->executed_count]
                                                         : 0;
}

bool outside_take_end(struct outside *outside, struct ring_end *end)
{
    struct ring_tasks *tasks = &outside->source.tasks;
    if (!outside->is_open || tasks->end_count == 0)
        return false;
    *end = tasks->ends[--tasks->end_count];
    return true;
}

uint64_t outside_cpu_ns(const struct outside *outside)
{
    return outside->is_open ? outside->source.tasks.cpu_ns : 0;
}

int outside_adopt(struct outside *outside, struct attached target, uint64_t missed_ns,
                  bool is_in_file)
{
    int err = open_source(outside);
    if (err == 0)
        err = ring_attach_adopted(&outside->source, target, is_in_file);
    struct ring_process *process =
        err ? NULL : ring_process_find(&outside->source.tasks.processes, target.pid);
    if (!process || missed_ns == 0)
        return err;
    sample_write_synthetic(&outside->source.samples, &process->process, target.pid,
                           SYNTHETIC_NOT_FOLLOWED, missed_ns, outside->config.round->now_ns);
    if (!outside->config.round->is_quiet)
        process->process.account.seen_ns -= missed_ns; /* before start_cpu_ns */
    return 0;
}

/* Two incomplete stacks made by the program, and one in a hundred of all samples. */
static bool has_deep_fibers(const struct process *process)
{
    return process->engine == ENGINE_PERF_TRAP && !process->has_ended && !process->is_departing &&
           !process->keeps_sampler && process->foreign_cuts >= FOREIGN_CUTS_MIN &&
           process->foreign_cuts >= process->samples / FOREIGN_CUTS_PARTS;
}

/* The sampler stops first: no period may be in both engines. */
static void take_over(struct outside *outside, struct process_watch *watch, struct process *process)
{
    uint32_t *is_handed_over = &process->memory->shared->verdict.is_handed_over;
    process->keeps_sampler = open_source(outside) != 0;
    if (process->keeps_sampler)
        return;
    uint64_t cpu_ns = 0;
    store_relaxed(is_handed_over, 1);
    if (ring_attach_taken_over(&outside->source, process, &cpu_ns) == 0) {
        outside_set_parent(outside, process);
        process_leave(watch, process, cpu_ns);
        return;
    }
    store_relaxed(is_handed_over, 0);
    process->keeps_sampler = true;
}

void outside_take_fibers(struct outside *outside, struct process_watch *watch)
{
    for (size_t i = 0; outside->takes_fibers && i < watch->processes->live_count; i++) {
        struct process *process = process_table_at(watch->processes, i);
        if (has_deep_fibers(process))
            take_over(outside, watch, process);
    }
}

bool outside_has(struct outside *outside, pid_t pid)
{
    return outside->is_open && ring_source_has(&outside->source, pid);
}

size_t outside_count(const struct outside *outside)
{
    return outside->is_open ? outside->source.tasks.processes.count : 0;
}

void outside_round(struct outside *outside)
{
    uint64_t now_ns = outside->config.round->now_ns;
    if (!outside->is_open)
        return;
    ring_source_drain(&outside->source, now_ns - RECORD_DELAY_NS);
    ring_growth_round(&outside->source);
    if (now_ns < outside->look_due_ns)
        return;
    ring_ends_look(&outside->source.tasks);
    outside->look_due_ns = now_ns + LOOK_NS;
}

void outside_catch_up(struct outside *outside)
{
    if (outside->is_open)
        ring_source_catch_up(&outside->source);
}

uint64_t outside_wait_ns(const struct outside *outside, uint64_t wait_ns)
{
    if (outside_count(outside) == 0)
        return wait_ns;
    uint64_t most_ns = ring_source_fill_ns(&outside->source) / RING_PARTS;
    if (most_ns > LOOK_NS)
        most_ns = LOOK_NS;
    return ring_growth_wait_ns(&outside->source, wait_ns < most_ns ? wait_ns : most_ns);
}

void outside_begin(struct outside *outside)
{
    if (outside->is_open)
        ring_source_restart(&outside->source);
}

/* Of a process without an EXIT, running or ended since the events were closed. A zombie waits for
 * the parent only. */
static uint64_t left_ns(const struct outside *outside, const struct ring_process *process)
{
    struct proc_stat stat;
    pid_t pid = process->process.pid;
    bool is_read = proc_stat_read(&stat, pid, 0) == 0;
    const uint64_t used_ns = proc_cpu_ns(pid);
    if (!is_read || !ring_process_is_own(process))
        return process->process.account.last_cpu_ns;
    if (stat.state != 'Z')
        record_processes_add(&outside->config.summary->left_running, pid, process->process.name,
                             NULL);
    return used_ns + stat.children_cpu_ns;
}

uint64_t outside_finish(struct outside *outside, bool command_runs)
{
    uint64_t sum_ns = 0;
    if (!outside->is_open)
        return 0;
    ring_source_stop(&outside->source);
    const struct ring_process *process = NULL;
    while (!command_runs &&
           (process = ring_process_next(&outside->source.tasks.processes, process)))
        sum_ns += left_ns(outside, process);
    return sum_ns;
}
