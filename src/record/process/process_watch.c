/* SPDX-License-Identifier: MIT */
#include "record/process/process_watch.h"

#include "record/account/waited_children.h"
#include "record/process/idle_wakeup.h"
#include "record/tables/maps/map_request.h"
#include "record/procfs/proc.h"
#include "record/sample/task_records.h"
#include "wire/atomic.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Compiling the tables of `true` costs more than `true`: shorter processes get no map. */
#define WORTH_TABLES_NS 3000000
/* CPU time between two reads of a process' event: this, plus this part of its CPU time. A read
 * interrupts the process, and takes long while its processor is busy. Eight reads per tenfold
 * growth; the figure matters only where no rusage is passed on. */
#define COUNT_INTERVAL_NS 20000000
#define COUNT_PARTS 4

int process_watch_open(struct process_watch *watch)
{
    watch->end_fd = epoll_create1(EPOLL_CLOEXEC);
    return watch->end_fd < 0 ? -errno : 0;
}

void process_watch_close(struct process_watch *watch)
{
    if (watch->end_fd > 0)
        close(watch->end_fd);
}

/* By pid: the next program after an exec has another slot. */
void process_watch_add(struct process_watch *watch, const struct process *process)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)process->pid};
    if (process->pid_fd >= 0)
        epoll_ctl(watch->end_fd, EPOLL_CTL_ADD, process->pid_fd, &event);
}

/* The rings are read a last time before the event and the pidfd are closed. Pending samples and the
 * slot stay until no map is under way: process_watch_find_ended(). */
void process_end_program(struct process_watch *watch, struct process *process)
{
    if (process->has_ended)
        return;
    process->has_ended = true;
    drain_process(watch->drain, process);
    untracked_threads_end(watch->untracked, process);
    waited_children_take(watch->tree, process);
    const struct process_slot *slot = process_slot(process);
    watch->samples->summary->lost[RECORD_LOST_NO_THREAD] += load_relaxed(&slot->lost_no_thread);
    uint32_t without_slot = load_relaxed(&slot->lost_no_thread_slot);
    watch->samples->summary->threads_without_slot += without_slot;
    watch->samples->summary->threads += without_slot;
    perf_event_close(&process->event);
    idle_wakeup_forget(process);
    if (process->pid_fd >= 0)
        close(process->pid_fd);
    process->pid_fd = -1;
}

/* The account closes with the CPU time of the departure; the EXIT comes from perf-ring. The note in
 * the tree keeps the parent's wait from becoming an unmet child. */
void process_leave(struct process_watch *watch, struct process *process, uint64_t cpu_ns)
{
    drain_process(watch->drain, process);
    process->goes_on_outside = true;
    accounting_leave(watch->accounting, process, cpu_ns, watch->round->now_ns);
    process_tree_take_leave(watch->tree, process->stated_pid, process->parent_pid);
    process_end_program(watch, process);
}

void process_settle_and_end(struct process_watch *watch, struct process *process)
{
    drain_process(watch->drain, process);
    accounting_end(watch->accounting, process, process_end_ns(process, watch->round->now_ns));
    process_end_program(watch, process);
}

void process_end(struct process_watch *watch, struct process *process)
{
    uint64_t now_ns = watch->round->now_ns;
    process_settle_and_end(watch, process);
    process_tree_take_end(watch->tree, process);
    task_write_exit(watch->samples->file, process, now_ns);
    process_table_note_end(watch->processes, process->pid, process_end_ns(process, now_ns));
}

/* A new start in the file, under the name of the new program: its CPU time is [not followed] from
 * here on. Pending samples belong to the old program, and are finished before. */
void process_turn_untracked(struct process_watch *watch, struct process *process,
                            const char *reason)
{
    drain_process(watch->drain, process);
    pending_finish(watch->pending, true);
    perf_event_close(&process->event);
    idle_wakeup_forget(process);
    process->engine = ENGINE_NONE;
    process->start_ns = watch->round->now_ns;
    if (proc_name(process->pid, 0, process->name) != 0)
        strcpy(process->name, "?");
    task_write_start(watch->samples->file, process, true);
    record_add_not_followed(watch->samples->summary, process->pid, process->name, reason);
}

/* While the program waits, rounds are up to a second apart. */
static uint64_t find_end_ns(const struct process_watch *watch, const struct process *process)
{
    uint64_t end_ns = watch->kernel_end_ns
                          ? watch->kernel_end_ns(watch->records, process->pid, process->start_ns)
                          : 0;
    return end_ns ? end_ns : watch->round->now_ns;
}

/* The waiting process may be about to pass on the rusage, hence a second look. */
static void find_end(struct process_watch *watch, struct process *process)
{
    if (process->is_departing)
        return; /* the kernel rings know whether the program was executed */
    bool is_first_look = process->gone_ns == 0;
    if (is_first_look)
        process->gone_ns =
            find_end_ns(watch, process); /* the pid may be reused by the second look */
    if (is_first_look && !accounting_has_rusage(watch->accounting, process))
        watch->waits_for_rusage = true;
    else
        process_end(watch, process);
}

static void find_ends_of_pidfds(struct process_watch *watch)
{
    /* Room for all: processes that wait for their rusage are reported again. */
    struct epoll_event *events = watch->events;
    int count = epoll_wait(watch->end_fd, events, SESSION_PROCESSES, 0);
    for (int i = 0; i < count; i++) {
        struct process *process = process_find(watch->processes, (pid_t)events[i].data.u32);
        if (process)
            find_end(watch, process);
    }
}

void process_watch_find_ended(struct process_watch *watch)
{
    watch->waits_for_rusage = false;
    for (size_t i = 0; i < watch->processes->live_count; i++)
        waited_children_take(watch->tree, process_table_at(watch->processes, i));
    find_ends_of_pidfds(watch);
    for (size_t i = 0; i < watch->processes->live_count; i++) {
        struct process *process = process_table_at(watch->processes, i);
        if (process->is_gone && !process->has_ended)
            find_end(watch, process);
    }
    /* Also of processes that ended just now: a slot must have no waiting samples when it is
     * freed. */
    pending_finish(watch->pending, false);
    for (size_t i = watch->processes->live_count; i-- > 0;) {
        const struct process *process = process_table_at(watch->processes, i);
        if (process->has_ended && process->map_requests == 0 && process->waiting_count == 0)
            process_table_remove(watch->processes, i, watch->round->now_ns);
    }
    if (watch->has_starts)
        ended_memories_unmap_old(&watch->processes->ended_memories, watch->round->now_ns);
    else
        ended_memories_unmap(&watch->processes->ended_memories);
}

/* A debugger that attaches would stop at every SIGTRAP. */
static void check_tracer(struct process_watch *watch, struct process *process)
{
    process->is_traced = proc_status_read(process->pid).tracer != 0;
    if (!process->is_traced || process->event.count == 0)
        return;
    perf_event_close(&process->event);
    process->engine = ENGINE_NONE;
    record_add_not_followed(watch->samples->summary, process->pid, process->name,
                            "a debugger was attached; not sampled from then on");
}

static void look_at_cpu(struct process_watch *watch, struct process *process)
{
    struct cpu_account *account = &process->account;
    uint64_t cpu_ns = proc_cpu_ns(process->pid);
    bool ran = cpu_account_look(account, cpu_ns, watch->round->now_ns);
    process->has_run |= ran;
    if (ran && cpu_ns - account->counted_cpu_ns > COUNT_INTERVAL_NS + cpu_ns / COUNT_PARTS) {
        account->counted_cpu_ns = cpu_ns;
        account->last_count_ns = perf_event_count_ns(&process->event);
    }
    if (cpu_ns > account->start_cpu_ns + WORTH_TABLES_NS)
        map_request_first(watch->compiler, process);
}

static void check(struct process_watch *watch, struct process *process)
{
    uint64_t now_ns = watch->round->now_ns;
    uint64_t before_ns = process->account.last_cpu_ns;
    look_at_cpu(watch, process);
    sampling_gaps_check(watch->gaps, process);
    /* Without a pidfd (no descriptor was left) there is no other sign of its end. */
    if (process->pid_fd < 0 && kill(process->pid, 0) != 0 && errno == ESRCH)
        process->is_gone = true;
    bool ran = process->account.last_cpu_ns > before_ns;
    if (!ran || now_ns - process->checked_ns < PROCESS_CHECK_INTERVAL_NS)
        return;
    process->checked_ns = now_ns;
    check_tracer(watch, process);
    /* Code may have been mapped or unmapped without the C library. */
    if (process->map_requests == 0)
        map_request(watch->compiler, process, now_ns);
}

void process_watch_check(struct process_watch *watch)
{
    for (size_t i = 0; i < watch->processes->live_count; i++) {
        struct process *process = process_table_at(watch->processes, i);
        bool is_new = process->checked_ns == watch->round->now_ns;
        if (!process->has_ended && !is_new)
            check(watch, process);
    }
}
