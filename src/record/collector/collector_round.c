/* SPDX-License-Identifier: MIT */
#include "record/collector/collector_round.h"

#include "record/account/unmet_children.h"
#include "record/launch/launch.h"
#include "record/process/idle_wakeup.h"
#include "record/procfs/proc.h"
#include "wire/atomic.h"

/* The longest time between two looks beyond the rings. */
#define LOOK_MAX_NS 20000000
/* The file is brought up to date on disk this often. */
#define CHECKPOINT_INTERVAL_NS 250000000

bool collector_has_map_requests(struct collector *collector)
{
    for (size_t i = 0; i < collector->processes.live_count; i++)
        if (process_table_at(&collector->processes, i)->map_requests > 0)
            return true;
    return false;
}

static void end_round(struct collector *collector)
{
    uint64_t now_ns = collector->round.now_ns;
    struct finished_round_facts facts = {.now_ns = now_ns,
                                         .has_pending = collector->pending.count > 0,
                                         .has_left = collector->drain.has_left};
    /* Few rounds are due; only these look through the process table. */
    if (finished_round_is_due(&collector->finished_round, collector->config.writer, now_ns)) {
        facts.has_map_requests = collector_has_map_requests(collector);
        finished_round_write(&collector->finished_round, collector->config.writer, &facts);
    }
    if (now_ns - collector->last_checkpoint_ns >= CHECKPOINT_INTERVAL_NS) {
        perfdata_checkpoint(collector->config.writer);
        collector->last_checkpoint_ns = now_ns;
    }
}

/* CPU time until now stays outside of the accounts. */
static void restart_accounts(struct collector *collector)
{
    struct record_summary *summary = collector->config.summary;
    bool is_alone = collector->config.options->no_inherit;
    summary->cpu_before_ns = is_alone ? proc_cpu_ns(load_relaxed(&collector->tree.root_pid))
                                      : process_tree_live_ns(&collector->tree, true);
    for (size_t i = 0; i < collector->threads.active_count; i++) {
        struct thread *thread = thread_table_at(&collector->threads, i);
        thread->skipped_ns = proc_thread_cpu_ns(thread->process->pid, thread->tid);
    }
    for (size_t i = 0; i < collector->processes.live_count; i++) {
        struct process *process = process_table_at(&collector->processes, i);
        if (!process->has_ended)
            cpu_account_restart(&process->account, proc_cpu_ns(process->pid));
    }
    untracked_processes_begin(&collector->untracked);
    outside_begin(&collector->outside);
}

static void begin_sampling(struct collector *collector)
{
    if (collector->config.options->delay_ns)
        restart_accounts(collector);
    if (collector->config.off_cpu)
        off_recorder_begin(collector->config.off_cpu, collector->round.now_ns);
    if (collector->config.options->off_cpu_only) {
        collector->quiet_until_ns = UINT64_MAX;
        return;
    }
    collector->round.is_quiet = false;
    session_start_sampling(collector->config.session);
    for (size_t i = 0; i < collector->processes.live_count; i++)
        perf_event_enable(&process_table_at(&collector->processes, i)->event);
}

/* Ends the recording when the file has reached one of its limits. */
static void check_file(struct collector *collector)
{
    enum record_end end = file_limit_check(&collector->file_limit, collector->round.now_ns);
    if (end == RECORD_END_COMMAND || collector->full)
        return;
    store_release(&collector->full, end);
    launch_call();
}

static void count_running(struct collector *collector)
{
    uint32_t running = (uint32_t)(collector->untracked.count + outside_count(&collector->outside));
    for (size_t i = 0; i < collector->processes.live_count; i++)
        running += !process_table_at(&collector->processes, i)->has_ended;
    store_relaxed(&collector->running, running);
}

void collector_look_around_now(struct collector *collector)
{
    collector->look_due_ns = 0;
    collector->look_wait_ns = ROUND_MIN_NS;
}

/* Each start is a round, and a look costs as much as a start: a millisecond between two looks. */
static void look_around_soon(struct collector *collector)
{
    uint64_t soon_ns = collector->looked_ns + ROUND_MIN_NS;
    if (collector->look_due_ns > soon_ns)
        collector->look_due_ns = soon_ns;
    collector->look_wait_ns = ROUND_MIN_NS;
}

/* What rings do not show. Not in every round at high rates: it costs more than draining. */
static void look_around(struct collector *collector)
{
    process_watch_check(&collector->watch);
    untracked_processes_look(&collector->untracked);
    process_watch_find_ended(&collector->watch);
    unmet_children_write(&collector->tree, &collector->samples, collector->round.now_ns);
    handshake_free_abandoned(&collector->handshake);
    count_running(collector);
    collector->looked_ns = collector->round.now_ns;
    collector->look_due_ns = collector->looked_ns + collector->look_wait_ns;
    if (collector->look_wait_ns <= LOOK_MAX_NS / 2)
        collector->look_wait_ns *= 2;
}

void collector_take_maps(struct collector *collector)
{
    struct process_map *map;
    while ((map = compiler_take(collector->config.compiler))) {
        drain_all(&collector->drain);
        process_maps_take(&collector->maps, map);
        pending_finish(&collector->pending, false);
    }
}

static uint64_t foreign_cuts(const struct collector *collector)
{
    return collector->config.summary->cut[RECORD_CUT_FOREIGN];
}

static void begin_round(struct collector *collector)
{
    round_begin(&collector->round);
    session_beat(collector->config.session);
    drain_begin_round(&collector->drain);
    collector->doorbell_before = collector->handshake.doorbell;
    collector->misses_before = collector->config.summary->misses;
    collector->foreign_cuts_before = foreign_cuts(collector);
    if (collector->round.is_quiet && collector->round.now_ns >= collector->quiet_until_ns)
        begin_sampling(collector);
}

/* Returns their bytes: an idle program has samples of waits, too, and its rounds stay rare. */
static uint64_t write_waits(struct collector *collector)
{
    uint64_t before = perfdata_bytes_written(collector->config.writer);
    if (collector->config.off_cpu)
        off_recorder_write(collector->config.off_cpu, collector->round.now_ns);
    return perfdata_bytes_written(collector->config.writer) - before;
}

void collector_run_round(struct collector *collector)
{
    uint64_t before = perfdata_bytes_written(collector->config.writer);
    begin_round(collector);
    /* Processes that wait come first, each blocked in a system call: before exec, in a constructor,
     * or in dlclose(). */
    departures_answer(&collector->departures);
    collector->watch.has_starts = handshake_answer(&collector->handshake);
    if (collector->watch.has_starts)
        look_around_soon(collector);
    retirement_answer(&collector->watch);
    process_maps_answer(&collector->maps);
    collector_take_maps(collector);
    process_maps_publish_rows(&collector->maps);
    drain_all(&collector->drain);
    pending_finish(&collector->pending, false);
    /* Any process may have the new cuts; the search is as long as the process table. */
    if (foreign_cuts(collector) != collector->foreign_cuts_before)
        outside_take_fibers(&collector->outside, &collector->watch);
    outside_round(&collector->outside);
    before += write_waits(collector);
    departures_settle(&collector->departures);
    if (collector->round.now_ns >= collector->look_due_ns || collector->watch.waits_for_rusage)
        look_around(collector);
    if (perfdata_bytes_written(collector->config.writer) != before)
        collector->last_wrote_ns = collector->round.now_ns;
    end_round(collector);
    check_file(collector);
}

static uint64_t not_past_delay_ns(const struct collector *collector, uint64_t wait_ns)
{
    uint64_t now_ns = collector->round.now_ns;
    if (!collector->round.is_quiet || collector->quiet_until_ns > now_ns + wait_ns)
        return wait_ns;
    return collector->quiet_until_ns > now_ns ? collector->quiet_until_ns - now_ns : 0;
}

uint64_t collector_next_wait_ns(struct collector *collector)
{
    struct poll_interval *poll = &collector->poll;
    bool has_copies = collector->config.summary->misses != collector->misses_before;
    if (has_copies)
        collector->last_copy_ns = collector->round.now_ns;
    if (collector->drain.has_left)
        return 0;
    const struct poll_facts facts = {
        .has_pending = collector->pending.count > 0,
        .has_stack_copies = has_copies,
        .waits_for_rusage = collector->watch.waits_for_rusage,
        .was_rung = collector->handshake.doorbell != collector->doorbell_before,
        .fullest_bytes = collector->drain.fullest_bytes,
        .silent_ns = collector->round.now_ns - collector->last_wrote_ns,
        .copies_age_ns = collector->round.now_ns - collector->last_copy_ns,
    };
    bool can_sleep_long = collector->can_idle && poll_interval_is_idle(poll, &facts) &&
                          idle_wakeup_arm(&collector->processes, collector->samples.period_ns);
    uint64_t wait_ns = poll_interval_next(poll, &facts, can_sleep_long);
    /* Each part shortens the wait for its own rings; poll->wait_ns keeps the shortened figure. */
    wait_ns = outside_wait_ns(&collector->outside, wait_ns);
    wait_ns = kernel_samples_wait_ns(&collector->kernel, wait_ns);
    if (collector->config.off_cpu && wait_ns > OFF_RECORDER_WRITE_NS)
        wait_ns = OFF_RECORDER_WRITE_NS;
    poll->wait_ns = untracked_processes_wait_ns(&collector->untracked, wait_ns);
    return not_past_delay_ns(collector, poll->wait_ns);
}
