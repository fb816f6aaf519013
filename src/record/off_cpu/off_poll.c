/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_poll.h"

#include "base/clock.h"
#include "record/procfs/blocked/thread_files.h"
#include "record/procfs/proc.h"

#include <stdio.h>
#include <stdlib.h>

/* Between two lists of the threads and processes: at least, and in terms of the cost of a list. */
#define LIST_NS 20000000
enum { LIST_COST_PARTS = 10 };
/* Of a thread that does not run; longer with many threads. */
#define PAUSE_MAX_NS UINT64_C(100000000)
enum { THREADS_PER_PAUSE = 100 };
enum { CHILDREN_MAX = 128, DEPTH_MAX = 24 };

static bool is_running(pid_t pid, pid_t tid)
{
    struct proc_stat stat;
    return proc_stat_read(&stat, pid, tid) == 0 && stat.state == 'R';
}

/* The account so far counts as before the recording, of a new thread too. */
static void enter(struct off_poll *poll, pid_t pid, pid_t tid, uint64_t now_ns)
{
    struct run_account account;
    if (thread_account_read(pid, tid, &account) != 0)
        return;
    bool is_on = is_running(pid, tid);
    struct off_thread *thread =
        off_thread_add(poll->tasks, pid, tid, is_on ? RUN_ON : RUN_BLOCKED, now_ns);
    if (!thread)
        return;
    thread->poll = (struct thread_poll){.account = account, .read_ns = now_ns};
    thread->delay = (struct run_delay){.has_base = true, .base_ns = (int64_t)account.delay_ns};
    if (!is_on)
        off_waits_begin(poll->waits, thread);
}

static void list_threads(struct off_poll *poll, pid_t pid, uint64_t now_ns)
{
    char path[64];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    pid_t *tids = proc_list(path, &count);
    for (size_t i = 0; tids && i < count; i++)
        if (!off_thread_find(poll->tasks, tids[i]))
            enter(poll, pid, tids[i], now_ns);
    free(tids);
    struct off_process *process = off_process_find(poll->tasks, pid);
    if (process) /* no record of mappings: read again when a stack leads out of the map */
        process->is_map_old = true;
}

/* By /proc/PID/task/TID/children. The lists lack a process after the end of its parent, but the
 * process stays known. */
static void list_tree(struct off_poll *poll, pid_t pid, int depth, uint64_t now_ns)
{
    pid_t children[CHILDREN_MAX];
    list_threads(poll, pid, now_ns);
    bool has_children = poll->reach == REACH_CHILDREN && depth < DEPTH_MAX;
    size_t count = has_children ? proc_children(pid, children, CHILDREN_MAX) : 0;
    for (size_t i = 0; i < count; i++)
        list_tree(poll, children[i], depth + 1, now_ns);
}

/* New processes are children of known ones. */
static void list_known(struct off_poll *poll, uint64_t now_ns)
{
    for (size_t i = 0; i < OFF_BUCKETS && poll->reach != REACH_THREAD; i++)
        for (struct off_process *known = poll->tasks->processes[i]; known;
             known = known->next_in_bucket)
            list_tree(poll, known->pid, 0, now_ns);
}

/* Another thread with the same id may have a lower account. */
static uint64_t difference(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* The thread has run since the last read: the wait ended when its CPU time began, at the latest. */
static void note_run(struct off_poll *poll, struct off_thread *thread,
                     const struct run_account *account, uint64_t now_ns)
{
    uint64_t cpu_ns = difference(account->cpu_ns, thread->poll.account.cpu_ns);
    uint64_t on_ns = difference(now_ns, cpu_ns);
    uint64_t since_ns =
        thread->run.state == RUN_BLOCKED ? thread->run.since_ns : thread->poll.read_ns;
    if (on_ns < since_ns)
        on_ns = since_ns;
    thread->is_active = true;
    if (thread->run.state == RUN_BLOCKED) {
        struct run_interval wait = thread_run_in(&thread->run, on_ns);
        off_waits_end(poll->waits, thread, &wait);
    } else {
        /* ran at the last read; waits since then, too short to be seen */
        struct run_interval on = thread_run_out(&thread->run, false, thread->poll.read_ns);
        off_waits_end(poll->waits, thread, &on);
        thread->cut = wait_cut_begin(&poll->waits->samples.ticks, thread->run.since_ns);
        struct run_interval wait = thread_run_in(&thread->run, on_ns);
        off_waits_end(poll->waits, thread, &wait);
    }
    if (is_running(thread->process->pid, thread->tid))
        return;
    struct run_interval on = thread_run_out(&thread->run, false, now_ns);
    off_waits_end(poll->waits, thread, &on);
    off_waits_begin(poll->waits, thread);
}

/* The pause doubles until the thread runs: a thousand idle threads cost little. */
static void read_thread(struct off_poll *poll, struct off_thread *thread, uint64_t now_ns)
{
    struct run_account account;
    struct thread_poll *last = &thread->poll;
    if (thread_account_read(thread->process->pid, thread->tid, &account) != 0) {
        off_records_end_thread(poll->records, thread, now_ns);
        return;
    }
    bool has_run = account.turns != last->account.turns || account.cpu_ns != last->account.cpu_ns;
    if (has_run || thread->run.state == RUN_ON)
        note_run(poll, thread, &account, now_ns);
    last->pause_ns = has_run ? 0 : 2 * last->pause_ns + poll->waits->samples.ticks.interval_ns;
    uint64_t most_ns = PAUSE_MAX_NS * (1 + poll->tasks->count / THREADS_PER_PAUSE);
    if (last->pause_ns > most_ns)
        last->pause_ns = most_ns;
    last->account = account;
    last->read_ns = now_ns;
}

/* Backwards, as the end of a thread moves the last one into the place of this thread. */
void off_poll_round(struct off_poll *poll, pid_t root, uint64_t now_ns)
{
    for (size_t i = poll->tasks->count; i-- > 0;) {
        struct off_thread *thread = poll->tasks->threads[i];
        if (now_ns >= thread->poll.read_ns + thread->poll.pause_ns)
            read_thread(poll, thread, now_ns);
    }
    if (now_ns < poll->list_due_ns)
        return;
    if (root)
        list_tree(poll, root, 0, now_ns);
    else
        list_known(poll, now_ns);
    uint64_t cost_ns = LIST_COST_PARTS * (monotonic_ns() - now_ns);
    poll->list_due_ns = now_ns + (cost_ns > LIST_NS ? cost_ns : LIST_NS);
}

/* The state by the records may be older than the state in /proc. */
static void adopt(struct off_poll *poll, struct off_thread *thread, uint64_t now_ns)
{
    bool is_on = is_running(thread->process->pid, thread->tid);
    bool was_off = thread->run.state == RUN_BLOCKED || thread->run.state == RUN_UNSEEN;
    if (was_off && !is_on) {
        thread->run.state = RUN_BLOCKED;
        return;
    }
    struct run_interval interval;
    if (thread->run.state != RUN_ON) {
        interval = thread_run_in(&thread->run, now_ns);
        off_waits_end(poll->waits, thread, &interval);
    }
    if (is_on)
        return;
    interval = thread_run_out(&thread->run, false, now_ns);
    off_waits_end(poll->waits, thread, &interval);
    off_waits_begin(poll->waits, thread);
}

void off_poll_adopt(struct off_poll *poll, uint64_t now_ns)
{
    for (size_t i = poll->tasks->count; i-- > 0;) {
        struct off_thread *thread = poll->tasks->threads[i];
        struct run_account account;
        if (thread_account_read(thread->process->pid, thread->tid, &account) != 0) {
            off_records_end_thread(poll->records, thread, now_ns);
            continue;
        }
        thread->poll = (struct thread_poll){.account = account, .read_ns = now_ns};
        adopt(poll, thread, now_ns);
    }
}
