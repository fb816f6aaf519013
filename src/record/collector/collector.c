/* SPDX-License-Identifier: MIT */
#include "record/collector/collector_parts.h"

#include "base/prompt_thread.h"
#include "record/account/unmet_children.h"
#include "record/collector/collector_connect.h"
#include "record/events/event_list.h"
#include "record/launch/launch.h"
#include "record/process/idle_wakeup.h"
#include "record/procfs/proc.h"
#include "wire/atomic.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The longest time between two looks beyond the rings. */
#define LOOK_MAX_NS 20000000
/* The file is brought up to date on disk this often. */
#define CHECKPOINT_INTERVAL_NS 250000000

static bool has_map_requests(struct collector *collector)
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
                                         .has_pending = collector->pending.count > 0};
    /* Few rounds are due; only these look through the process table. */
    if (finished_round_is_due(&collector->finished_round, collector->config.writer, now_ns)) {
        facts.has_map_requests = has_map_requests(collector);
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

/* In this round, and in short intervals for a while. */
static void look_around_now(struct collector *collector)
{
    collector->look_due_ns = 0;
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
    collector->look_due_ns = collector->round.now_ns + collector->look_wait_ns;
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

static void run_round(struct collector *collector)
{
    uint64_t before = perfdata_bytes_written(collector->config.writer);
    begin_round(collector);
    departures_answer(&collector->departures);
    if (handshake_answer(&collector->handshake))
        look_around_now(collector);
    retirement_answer(&collector->watch);
    process_maps_answer(&collector->maps);
    collector_take_maps(collector);
    process_maps_publish_rows(&collector->maps);
    drain_all(&collector->drain);
    pending_finish(&collector->pending, false);
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

static uint64_t next_wait_ns(struct collector *collector)
{
    struct poll_interval *poll = &collector->poll;
    bool has_copies = collector->config.summary->misses != collector->misses_before;
    if (has_copies)
        collector->last_copy_ns = collector->round.now_ns;
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
    wait_ns = outside_wait_ns(&collector->outside, wait_ns);
    wait_ns = kernel_samples_wait_ns(&collector->kernel, wait_ns);
    if (collector->config.off_cpu && wait_ns > OFF_RECORDER_WRITE_NS)
        wait_ns = OFF_RECORDER_WRITE_NS;
    poll->wait_ns = untracked_processes_wait_ns(&collector->untracked, wait_ns);
    return not_past_delay_ns(collector, poll->wait_ns);
}

static void sleep_until_doorbell(struct collector *collector, uint64_t wait_ns)
{
    struct timespec timeout = {.tv_sec = (time_t)(wait_ns / 1000000000),
                               .tv_nsec = (long)(wait_ns % 1000000000)};
    uint32_t *doorbell = &collector->config.session->requests->doorbell;
    syscall(SYS_futex, doorbell, FUTEX_WAIT, collector->handshake.doorbell, &timeout, NULL, 0);
}

static void *collector_thread(void *argument)
{
    struct collector *collector = argument;
    uint32_t *doorbell = &collector->config.session->requests->doorbell;
    /* At low rates rings have room for a late round, and starts under load take longer by this. */
    if (collector->poll.is_short)
        prompt_thread_begin();
    collector->can_idle = collector->poll.may_idle && idle_wakeup_prepare(doorbell);
    while (!load_acquire(&collector->stop)) {
        run_round(collector);
        sleep_until_doorbell(collector, next_wait_ns(collector));
    }
    return NULL;
}

struct collector *collector_new(void)
{
    void *memory = mmap(NULL, sizeof(struct collector), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int collector_init(struct collector *collector, const struct collector_config *config)
{
    collector->config = *config;
    collector_connect(collector);
    round_start(&collector->round);
    collector->round.is_quiet = config->options->delay_ns > 0 || config->options->off_cpu_only;
    collector->quiet_until_ns = collector->round.now_ns + config->options->delay_ns;
    collector->finished_round.begin_bytes = perfdata_bytes_written(config->writer);
    collector->finished_round.hold_ns = config->off_cpu ? off_recorder_age_ns(config->off_cpu) : 0;
    file_limit_open(&collector->file_limit, config->writer, config->options->size_max,
                    config->options->keep_free_bytes);
    bool has_bursts = event_list_injected(config->options) != NULL;
    poll_interval_start(&collector->poll, has_bursts ? 0 : collector->samples.period_ns);
    look_around_now(collector);
    int err = drain_open(&collector->drain);
    return err ? err : process_watch_open(&collector->watch);
}

/* Without perf-ring the command runs unrecorded, unless the user insists on the engine. */
static int record_command_outside(struct collector *collector)
{
    int err = outside_await_exec(&collector->outside, collector->config.outside_pid, false);
    collector->has_command_outside = err == 0;
    return collector->config.options->engine == RECORD_ENGINE_PERF_RING ? err : 0;
}

int collector_start(struct collector **out, const struct collector_config *config,
                    struct error *error)
{
    struct collector *collector = collector_new();
    int err = collector ? collector_init(collector, config) : -ENOMEM;
    if (err == 0 && config->outside_pid)
        err = record_command_outside(collector);
    if (err == 0 && config->kernel_pid)
        err = kernel_samples_open(&collector->kernel, config->kernel_pid,
                                  collector->outside.config.reach);
    if (err == 0 && config->off_cpu)
        err = off_recorder_start(config->off_cpu);
    if (err == 0)
        err = -pthread_create(&collector->thread, NULL, collector_thread, collector);
    if (err) {
        collector_free(collector);
        return error_set(error, err, "cannot start the recording: %s", strerror(-err));
    }
    *out = collector;
    return 0;
}

void collector_set_root(struct collector *collector, pid_t pid)
{
    store_relaxed(&collector->tree.root_pid, pid);
}

/* Waits up to 0.2 s for maps and CFI that are on their way. */
static void finish_maps(struct collector *collector)
{
    for (int i = 0; i < 200; i++) {
        collector_take_maps(collector);
        pending_finish(&collector->pending, false);
        if (!has_map_requests(collector) && !pending_needs_cfi(&collector->pending))
            return;
        struct timespec wait = {.tv_nsec = 1000000};
        nanosleep(&wait, NULL);
    }
}

/* Processes that only counters in shared memory tell of. */
static void add_unseen(struct collector *collector, uint32_t count, const char *reason)
{
    struct record_processes *processes = &collector->config.summary->not_followed;
    char name[32];
    snprintf(name, sizeof(name), "%u processes", count);
    if (processes->count == RECORD_PROCESSES_MAX)
        processes->more += count;
    else if (count)
        record_processes_add(processes, 0, name, reason);
}

const uint32_t *collector_full(const struct collector *collector)
{
    return &collector->full;
}

uint32_t collector_running(const struct collector *collector)
{
    return load_relaxed(&collector->running);
}

static void end_thread(struct collector *collector)
{
    uint32_t *doorbell = &collector->config.session->requests->doorbell;
    store_release(&collector->stop, 1);
    add_release(doorbell, 1);
    syscall(SYS_futex, doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
    pthread_join(collector->thread, NULL);
}

/* Processes that outlive the recording are settled as of now. */
static void end_processes(struct collector *collector, bool command_runs)
{
    struct record_summary *summary = collector->config.summary;
    for (size_t i = 0; i < collector->processes.live_count; i++) {
        struct process *process = process_table_at(&collector->processes, i);
        if (process->has_ended)
            continue;
        if (!command_runs)
            record_processes_add(&summary->left_running, process->pid, process->name, NULL);
        process_settle_and_end(&collector->watch, process);
    }
}

void collector_stop(struct collector *collector, bool command_runs)
{
    end_thread(collector);
    outside_catch_up(&collector->outside);
    look_around_now(collector);
    run_round(collector);
    if (collector->config.off_cpu)
        off_recorder_stop(collector->config.off_cpu, &collector->config.summary->off_cpu);
    finish_maps(collector);
    look_around_now(collector);
    run_round(collector);
    store_release(&collector->config.session->tables->header.stop, 1);
    collector->live_ns = process_tree_live_ns(&collector->tree, command_runs);
    collector->live_ns -= collector->tree.detached_ns;
    end_processes(collector, command_runs);
    collector->live_ns += untracked_processes_finish(&collector->untracked, command_runs);
    collector->live_ns += outside_finish(&collector->outside, command_runs);
    departures_settle(&collector->departures);
    collector->live_ns += collector->tree.detached_ns;
    unmet_children_write(&collector->tree, &collector->samples, UINT64_MAX);
    pending_finish(&collector->pending, true);
    const struct requests *requests = collector->config.session->requests;
    add_unseen(collector, load_relaxed(&requests->lost_no_request), "too many at one time");
    add_unseen(collector, load_relaxed(&requests->lost_launcher_away),
               "started while rec was stopped");
}

uint64_t collector_live_ns(const struct collector *collector)
{
    return collector->live_ns;
}

void collector_free(struct collector *collector)
{
    if (!collector)
        return;
    process_table_free(&collector->processes);
    kernel_samples_close(&collector->kernel);
    outside_close(&collector->outside);
    thread_table_free(&collector->threads);
    pid_namespaces_free(&collector->namespaces);
    process_watch_close(&collector->watch);
    pending_free(&collector->pending);
    jit_frames_free(&collector->samples.jit);
    drain_close(&collector->drain);
    munmap(collector, sizeof(*collector));
}
