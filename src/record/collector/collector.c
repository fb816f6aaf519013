/* SPDX-License-Identifier: MIT */
/*
 * The life of the thread. Everything outside of it runs before pthread_create() or after
 * pthread_join(), so the parts of the collector need no lock; `stop`, `full`, `running` and
 * root_pid are atomic.
 *
 *     collector_start()   opens the events that wait for the exec of the command
 *     collector_thread()  rounds
 *     collector_stop()    two rounds more: the first reads the rings and requests the last maps,
 *                         finish_maps() waits for these, the second writes their samples; then
 *                         accounts close from the leaves of the tree to the root
 *
 * The memory is from mmap(): zero without being touched, and most entries of the process table
 * never are.
 */
#include "record/collector/collector_parts.h"

#include "base/pid_fd.h"
#include "base/prompt_thread.h"
#include "record/account/unmet_children.h"
#include "record/collector/collector_connect.h"
#include "record/collector/collector_round.h"
#include "record/events/event_list.h"
#include "record/process/idle_wakeup.h"
#include "wire/atomic.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
        collector_run_round(collector);
        sleep_until_doorbell(collector, collector_next_wait_ns(collector));
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
    collector_look_around_now(collector);
    int err = drain_open(&collector->drain);
    return err ? err : process_watch_open(&collector->watch);
}

/* Without perf-ring the command runs unrecorded, unless the user insists on the engine. */
static int record_command_outside(struct collector *collector)
{
    const pid_t pid = collector->config.outside_pid;
    const struct attached command = {pid, pid_fd_open(pid)};
    int err = outside_await_exec(&collector->outside, command, false);
    if (command.pid_fd >= 0)
        close(command.pid_fd);
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
        if (!collector_has_map_requests(collector) && !pending_needs_cfi(&collector->pending))
            return;
        struct timespec wait = {.tv_nsec = 1000000};
        nanosleep(&wait, NULL);
    }
}

/* Processes that are known by counters in shared memory alone. */
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
    collector->drain.is_last = true;
    outside_catch_up(&collector->outside);
    collector_look_around_now(collector);
    collector_run_round(collector);
    if (collector->config.off_cpu)
        off_recorder_stop(collector->config.off_cpu, collector->config.summary);
    finish_maps(collector);
    collector_look_around_now(collector);
    collector_run_round(collector);
    store_release(&collector->config.session->tables->header.stop, 1);
    /* detached_ns grows while the processes below end: counted once, after the last end. */
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
