/* SPDX-License-Identifier: MIT */
/*
 * A round of the loop:
 *
 *     switch records ─▶ states of the threads, ends of waits
 *     tick is due    ─▶ off_look() at waiting threads without a stack, accounts of the others
 *     window is over ─▶ off_windows_flush() of all threads, pace of the ticks
 *     wait              until the next tick, mostly
 *
 * Ticks cost CPU time, even if all threads wait. Without a record for some ticks they rest:
 *
 *     few threads     no ticks: the next record ends the wait, by the events of off_rings_wake()
 *     many threads    every fourth tick
 */
#include "record/off_cpu/off_loop.h"

#include "base/clock.h"
#include "record/off_cpu/waits/off_windows.h"
#include "record/procfs/proc.h"
#include "wire/atomic.h"

#include <time.h>
#include <unistd.h>

/* Short waits share their sum this often, at the earliest. */
#define WINDOW_NS UINT64_C(1000000000)
enum { WINDOW_TICKS = 4 };
/* Without a record for so many ticks, the program is idle. With more threads than WAKE_THREADS_MAX,
 * switching their events on and off costs more than ticks: then one of QUIET_STEP ticks is left. */
enum { IDLE_TICKS = 2, WAKE_THREADS_MAX = 64, QUIET_TICKS = 16, QUIET_STEP = 4 };
/* A long wait has so many samples of a tick each, fewer in programs with many threads. */
enum { SINGLE_CUTS_MAX = 256, SINGLE_CUTS_MIN = 16, SINGLE_CUTS_OF_ALL = 16384 };
/* Of threads that are runnable in a long wait, in a window. */
enum { CHECKS_MAX = 64 };
/* Records are read again after so many looks and accounts: the rings must not fill. */
enum { READS_AT_ONCE = 32, TRIES_MAX = 4 };

/* Other ticks in every recording: see wait_ticks.h. */
static uint64_t seed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32;
}

void off_loop_connect(struct off_loop *loop, struct off_queue *queue, uint64_t interval_ns)
{
    loop->waits = (struct off_waits){
        .samples = {.ticks = {interval_ns, seed(), SINGLE_CUTS_MAX}, .queue = queue},
        .read_account = thread_account_read};
    loop->pace.asked_ns = loop->longest_ns = interval_ns;
    loop->looks.tasks = &loop->tasks;
    loop->looks.queue = queue;
    loop->looks.waits = &loop->waits;
    loop->records = (struct off_records){.tasks = &loop->tasks, .waits = &loop->waits};
    loop->poll =
        (struct off_poll){.tasks = &loop->tasks, .waits = &loop->waits, .records = &loop->records};
}

uint64_t off_loop_window_ns(const struct off_loop *loop)
{
    uint64_t ticks_ns = WINDOW_TICKS * loop->waits.samples.ticks.interval_ns;
    return ticks_ns > WINDOW_NS ? ticks_ns : WINDOW_NS;
}

/* Up to the look: later records may still lack an earlier one of another processor. */
static uint64_t read_records(struct off_loop *loop)
{
    struct ring_record record;
    uint64_t until_ns = off_rings_look(&loop->rings);
    pid_t root = (pid_t)load_acquire(&loop->root_pid);
    if (loop->is_polled && (root || loop->tasks.count > 0))
        off_poll_round(&loop->poll, root, until_ns);
    while (off_rings_next(&loop->rings, until_ns, &record)) {
        loop->record_ns = until_ns;
        if (record.time_ns)
            off_records_take(&loop->records, &record);
    }
    return until_ns;
}

static bool may_wait(const struct off_thread *thread)
{
    return thread->run.state == RUN_BLOCKED || thread->run.state == RUN_UNSEEN;
}

/* At the threads that wait since before the tick. The others keep their place in the list, and
 * their account is read, as that of running threads: an ended thread has none. */
static void look_at_waiting(struct off_loop *loop, uint64_t tick_ns)
{
    struct off_waits *waits = &loop->waits;
    struct off_thread *thread;
    off_waits_begin_tick(waits);
    for (int reads = 1; (thread = off_waits_next(waits)); reads++) {
        off_ends_watch(&loop->ends, &loop->tasks, thread->process);
        bool is_due = may_wait(thread) && !thread->look.stack;
        if (is_due && thread->run.since_ns <= tick_ns && thread->look.tries < TRIES_MAX) {
            off_look(&loop->looks, thread);
            if (thread->look.stack) /* no record of an attached thread yet: it waits since then */
                thread->run.state = RUN_BLOCKED;
        } else {
            off_waits_read_account(waits, thread);
        }
        if (is_due && !thread->look.stack && thread->look.tries < TRIES_MAX) {
            thread->is_to_look = true; /* not freed when it ends */
            thread->next_to_look = loop->again;
            loop->again = thread;
        }
        if (reads % READS_AT_ONCE == 0 && !loop->is_polled)
            read_records(loop);
    }
    off_looks_pause(&loop->looks);
    while ((thread = loop->again)) {
        loop->again = thread->next_to_look;
        thread->is_to_look = false;
        if (thread->has_ended)
            off_thread_free(thread);
        else
            off_waits_look_again(waits, thread);
    }
}

static bool is_runnable(pid_t pid, pid_t tid)
{
    struct proc_stat stat;
    return proc_stat_read(&stat, pid, tid) == 0 && stat.state == 'R';
}

/* Samples of long waits share one budget among all threads, within limits for each. */
static uint64_t single_cuts(size_t threads)
{
    uint64_t share = SINGLE_CUTS_OF_ALL / (threads + 1);
    return share > SINGLE_CUTS_MAX   ? SINGLE_CUTS_MAX
           : share < SINGLE_CUTS_MIN ? SINGLE_CUTS_MIN
                                     : share;
}

/* schedstat takes the place of the records. Records up to now are read first, so the polling starts
 * with the states by the records. */
static void end_records(struct off_loop *loop, struct storm_rates storm)
{
    off_rings_end(&loop->rings);
    uint64_t now_ns = read_records(loop);
    loop->is_polled = true;
    loop->storm = storm;
    off_poll_adopt(&loop->poll, now_ns);
}

/* Looks that cost too much become rarer. */
static void change_ticks(struct off_loop *loop, uint64_t now_ns)
{
    struct off_waits *waits = &loop->waits;
    uint64_t interval_ns = tick_pace_next(&loop->pace, waits->samples.ticks.interval_ns);
    if (interval_ns == waits->samples.ticks.interval_ns)
        return;
    waits->samples.ticks.interval_ns = interval_ns;
    if (interval_ns > loop->longest_ns)
        loop->longest_ns = interval_ns;
    for (size_t i = 0; i < loop->tasks.count; i++)
        off_waits_change_ticks(waits, loop->tasks.threads[i]);
    loop->next_tick = wait_tick_from(&waits->samples.ticks, now_ns + 1);
}

/* Woken threads without a processor exist where more threads are runnable than processors. */
static void flush(struct off_loop *loop, uint64_t until_ns)
{
    bool is_crowded = proc_runnable() > loop->rings.records.count;
    loop->waits.is_runnable = is_crowded ? is_runnable : NULL;
    loop->waits.checks_left = CHECKS_MAX;
    loop->waits.samples.ticks.single_cuts = single_cuts(loop->tasks.count);
    for (size_t i = 0; i < loop->tasks.count; i++)
        off_windows_flush(&loop->waits, loop->tasks.threads[i], until_ns);
    change_ticks(loop, until_ns);
    loop->flush_due_ns = until_ns + off_loop_window_ns(loop);
    const struct switch_storm now = {.begin_ns = until_ns,
                                     .records = loop->records.switches + loop->records.lost,
                                     .starts = loop->records.starts,
                                     .on_ns = loop->waits.samples.sums.on_ns};
    struct storm_rates storm = switch_storm_find(&loop->window, &now, loop->rings.records.count);
    if ((storm.switches || storm.starts) && !loop->is_polled && loop->records.reach != REACH_SYSTEM)
        end_records(loop, storm);
}

/* Waits under way count from here on. */
static void begin(struct off_loop *loop, uint64_t begin_ns)
{
    loop->waits.is_quiet = false;
    for (size_t i = 0; i < loop->tasks.count; i++)
        off_waits_restart(&loop->waits, loop->tasks.threads[i], begin_ns);
}

static void end_tick(struct off_loop *loop, uint64_t now_ns)
{
    uint64_t due_ns = tick_pace_take(&loop->pace, now_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
    loop->next_tick =
        wait_tick_from(&loop->waits.samples.ticks, due_ns > now_ns ? due_ns : now_ns + 1);
}

static void run_once(struct off_loop *loop)
{
    const struct wait_ticks *ticks = &loop->waits.samples.ticks;
    uint64_t now_ns = read_records(loop), begin_ns = load_acquire(&loop->begin_ns);
    if (loop->waits.is_quiet && begin_ns)
        begin(loop, now_ns);
    uint64_t tick_ns = wait_tick_ns(ticks, loop->next_tick);
    if (now_ns >= tick_ns && !loop->waits.is_quiet) {
        uint64_t following = wait_tick_from(ticks, now_ns + 1);
        /* a wait that polling has found now began at a time unknown */
        look_at_waiting(loop, loop->is_polled ? UINT64_MAX : wait_tick_ns(ticks, following - 1));
    }
    if (now_ns >= tick_ns)
        end_tick(loop, now_ns);
    if (now_ns >= loop->flush_due_ns)
        flush(loop, now_ns);
}

/* All threads wait, and their stacks are known: ticks have no work until the next record. */
static bool is_idle(const struct off_loop *loop, uint64_t now_ns, unsigned ticks)
{
    uint64_t idle_ns = ticks * loop->waits.samples.ticks.interval_ns;
    bool has_work = loop->waits.to_look || loop->waits.of_tick;
    return !loop->is_polled && !has_work && now_ns - loop->record_ns > idle_ns;
}

/* A record may come before the events are switched on. */
static bool go_idle(struct off_loop *loop)
{
    bool is_on = off_rings_wake(&loop->rings, true);
    read_records(loop);
    return is_on && is_idle(loop, monotonic_ns(), IDLE_TICKS);
}

/* Until the next tick; without work for ticks, until a record, the end of a process, or the
 * window. */
static void wait_for_work(struct off_loop *loop)
{
    uint64_t due_ns = wait_tick_ns(&loop->waits.samples.ticks, loop->next_tick);
    uint64_t now_ns = monotonic_ns();
    bool has_few = loop->tasks.count <= WAKE_THREADS_MAX;
    bool stays_idle = has_few && is_idle(loop, now_ns, IDLE_TICKS) && go_idle(loop);
    if (!stays_idle)
        off_rings_wake(&loop->rings, false);
    if (stays_idle || due_ns > loop->flush_due_ns) /* else ticks rest */
        due_ns = loop->flush_due_ns;
    if (!has_few && is_idle(loop, now_ns, QUIET_TICKS))
        due_ns += (QUIET_STEP - 1) * loop->waits.samples.ticks.interval_ns;
    if (due_ns > now_ns &&
        off_rings_wait(&loop->rings, loop->wake_fd, loop->ends.fd, due_ns - now_ns))
        off_ends_take(&loop->ends);
}

/* The end of each thread writes its last window. Then the list of threads to look at is emptied:
 * the reader of the list frees ended threads. */
static void finish(struct off_loop *loop)
{
    uint64_t end_ns = read_records(loop);
    while (loop->tasks.count > 0)
        off_records_end_thread(&loop->records, loop->tasks.threads[0], end_ns);
    off_waits_begin_tick(&loop->waits);
    while (off_waits_next(&loop->waits))
        ;
}

void off_loop_run(struct off_loop *loop)
{
    uint64_t now_ns = monotonic_ns();
    store_release(&loop->tid, (uint32_t)gettid());
    loop->next_tick = wait_tick_from(&loop->waits.samples.ticks, now_ns);
    loop->flush_due_ns = now_ns + off_loop_window_ns(loop);
    loop->record_ns = loop->window.begin_ns = now_ns;
    loop->pace.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (!load_acquire(&loop->stop)) {
        run_once(loop);
        wait_for_work(loop);
    }
    finish(loop);
    loop->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
