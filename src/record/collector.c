/* SPDX-License-Identifier: MIT */
#include "record/collector_parts.h"

#include "record/launch.h"
#include "record/proc.h"
#include "wire/atomic.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How long nobody may look for anything but samples. */
#define LOOK_MAX_NS 20000000
/* What the samples may weigh more than the bill: they have time that a hypervisor took, too. */
#define NOISE_PARTS 32
/* The file is brought up to date on disk this often. */
#define CHECKPOINT_INTERVAL_NS 250000000

static void end_round(struct collector *collector)
{
    file_round_end(collector);
    if (collector->round_ns - collector->last_checkpoint_ns >= CHECKPOINT_INTERVAL_NS) {
        perfdata_checkpoint(collector->writer);
        collector->last_checkpoint_ns = collector->round_ns;
    }
}

/* What was used until now is nobody's business: accounts begin here. */
static void begin_sampling(struct collector *collector)
{
    bool is_alone = collector->options->no_inherit;
    collector->summary->cpu_before_ns =
        is_alone ? proc_cpu_ns(load_relaxed(&collector->root_pid)) : tree_live_ns(collector, true);
    for (size_t i = 0; i < collector->active_count; i++) {
        struct thread_view *thread = &collector->threads[collector->active[i]];
        thread->skipped_ns = proc_thread_cpu_ns(thread->image->pid, thread->tid);
    }
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        if (image->has_ended)
            continue;
        image->start_cpu_ns = image->last_cpu_ns = image->counted_cpu_ns = proc_cpu_ns(image->pid);
        image->seen_ns = 0;
    }
    strangers_begin(collector);
    collector->is_quiet = false;
    session_start_sampling(collector->session);
    for (size_t i = 0; i < collector->live_count; i++)
        arm_enable(&collector->images[collector->live[i]].armed);
}

/* The deepest wish of whoever asked for a size: the disk. */
static void check_size(struct collector *collector)
{
    uint64_t most = collector->options->size_max;
    if (most == 0 || collector->is_full || perfdata_bytes_written(collector->writer) < most)
        return;
    store_release(&collector->is_full, 1);
    launch_call();
}

static void count_running(struct collector *collector)
{
    uint32_t running = (uint32_t)collector->stranger_count;
    for (size_t i = 0; i < collector->live_count; i++)
        running += !collector->images[collector->live[i]].has_ended;
    store_relaxed(&collector->running, running);
}

/* In this round, and in short intervals for a while. */
static void look_around_now(struct collector *collector)
{
    collector->look_due_ns = 0;
    collector->look_wait_ns = ROUND_MIN_NS;
}

/* What rings do not tell. At high rates that is not done in every round: it costs more than draining. */
static void look_around(struct collector *collector)
{
    images_check(collector);
    strangers_look(collector);
    images_find_ended(collector);
    answers_take_abandoned(collector);
    count_running(collector);
    collector->look_due_ns = collector->round_ns + collector->look_wait_ns;
    if (collector->look_wait_ns <= LOOK_MAX_NS / 2)
        collector->look_wait_ns *= 2;
}

static void run_round(struct collector *collector)
{
    collector->last_round_ns = collector->round_ns;
    collector->round_ns = ticks_clock_advance(&collector->clock);
    session_beat(collector->session);
    if (collector->is_quiet && collector->round_ns >= collector->quiet_until_ns)
        begin_sampling(collector);
    uint64_t before = perfdata_bytes_written(collector->writer);
    pace_begin_round(collector);
    if (answers_give(collector))
        look_around_now(collector);
    maps_answer(collector);
    maps_take(collector);
    maps_publish_rows(collector);
    drain_all(collector);
    misses_finish(collector, false);
    if (collector->round_ns >= collector->look_due_ns || collector->waits_for_bill)
        look_around(collector);
    if (perfdata_bytes_written(collector->writer) != before)
        collector->last_wrote_ns = collector->round_ns;
    end_round(collector);
    check_size(collector);
}

static void sleep_until_doorbell(struct collector *collector, uint64_t wait_ns)
{
    struct timespec timeout = {.tv_sec = (time_t)(wait_ns / 1000000000),
                               .tv_nsec = (long)(wait_ns % 1000000000)};
    uint32_t *doorbell = &collector->session->rings->header.doorbell;
    syscall(SYS_futex, doorbell, FUTEX_WAIT, collector->doorbell, &timeout, NULL, 0);
}

static void *collector_thread(void *argument)
{
    struct collector *collector = argument;
    pace_start(collector);
    while (!load_acquire(&collector->stop)) {
        run_round(collector);
        sleep_until_doorbell(collector, pace_wait_ns(collector));
    }
    return NULL;
}

int collector_start(struct collector **out, struct session *session, struct compiler *compiler,
                    struct perfdata_writer *writer, const struct record_options *options,
                    struct record_summary *summary, bool may_arm, struct error *error)
{
    struct collector *collector = calloc(1, sizeof(*collector));
    int err = -ENOMEM;
    if (!collector)
        goto out;
    collector->session = session;
    collector->compiler = compiler;
    collector->writer = writer;
    collector->options = options;
    collector->summary = summary;
    collector->may_arm = may_arm;
    collector->processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    collector->period_ns = session->tables->header.period_ns;
    collector->file_round_begin = perfdata_bytes_written(writer);
    collector->end_fd = epoll_create1(EPOLL_CLOEXEC);
    collector->scratch = malloc(SESSION_RING_BYTES);
    if (collector->end_fd < 0 || !collector->scratch)
        goto out;
    ticks_clock_start(&collector->clock);
    look_around_now(collector);
    collector->is_quiet = options->delay_ns > 0;
    collector->quiet_until_ns = collector->clock.first.ns + options->delay_ns;
    err = -pthread_create(&collector->thread, NULL, collector_thread, collector);
out:
    if (err) {
        collector_free(collector);
        return error_set(error, err, "cannot start a thread: %s", strerror(-err));
    }
    *out = collector;
    return 0;
}

uint64_t collector_time_ns(const struct collector *collector, uint64_t ticks)
{
    uint64_t time_ns = ticks_to_ns(&collector->clock, ticks);
    if (time_ns < collector->clock.first.ns)
        return collector->clock.first.ns;
    if (time_ns <= collector->round_ns)
        return time_ns;
    uint64_t now_ns = monotonic_ns();
    return time_ns < now_ns ? time_ns : now_ns;
}

void collector_set_root(struct collector *collector, pid_t pid)
{
    store_relaxed(&collector->root_pid, pid);
}

static bool is_waiting(const struct collector *collector)
{
    for (size_t i = 0; i < collector->live_count; i++)
        if (collector->images[collector->live[i]].map_requests > 0)
            return true;
    for (size_t i = 0; i < collector->miss_count; i++)
        if (collector->misses[i].needs_cfi)
            return true;
    return false;
}

/* Waits, but not for long, for maps and CFI that are on their way. */
static void finish_maps(struct collector *collector)
{
    for (int i = 0; i < 200; i++) {
        maps_take(collector);
        misses_finish(collector, false);
        if (!is_waiting(collector))
            return;
        struct timespec wait = {.tv_nsec = 1000000};
        nanosleep(&wait, NULL);
    }
}

/* Processes of which nothing is known but that they started. */
static void tell_unseen(struct collector *collector, uint32_t count, const char *reason)
{
    char name[32];
    snprintf(name, sizeof(name), "%u processes", count);
    if (count)
        images_add_not_followed(collector, 0, name, reason);
}

const uint32_t *collector_full(const struct collector *collector)
{
    return &collector->is_full;
}

uint32_t collector_running(const struct collector *collector)
{
    return load_relaxed(&collector->running);
}

void collector_stop(struct collector *collector, bool command_runs)
{
    store_release(&collector->stop, 1);
    uint32_t *doorbell = &collector->session->rings->header.doorbell;
    add_release(doorbell, 1);
    syscall(SYS_futex, doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
    pthread_join(collector->thread, NULL);
    look_around_now(collector);
    run_round(collector);
    finish_maps(collector);
    look_around_now(collector);
    run_round(collector);
    store_release(&collector->session->tables->header.stop, 1);
    collector->live_ns = tree_live_ns(collector, command_runs);
    for (size_t i = 0; i < collector->live_count; i++) {
        struct image *image = &collector->images[collector->live[i]];
        if (image->has_ended)
            continue;
        if (!command_runs)
            record_processes_add(&collector->summary->left_running, image->pid, image->name, NULL);
        image_settle_and_end(collector, image);
    }
    collector->live_ns += strangers_finish(collector, command_runs);
    misses_finish(collector, true);
    const struct rings_header *header = &collector->session->rings->header;
    tell_unseen(collector, load_relaxed(&header->lost_no_slot), "too many at one time");
    tell_unseen(collector, load_relaxed(&header->lost_unasked), "started while rec was stopped");
    collector->summary->threads_without_slot = load_relaxed(&header->lost_no_thread_slot);
}

/* Time below a bucket's upper bound, or the longest, for the share of samples that is asked for. */
static uint64_t handler_percentile_ns(const struct collector *collector, unsigned per_cent)
{
    uint64_t total = 0;
    for (int i = 0; i < HANDLER_BUCKETS; i++)
        total += collector->handler_ticks[i];
    uint64_t seen = 0;
    for (int i = 0; i < HANDLER_BUCKETS; i++) {
        seen += collector->handler_ticks[i];
        if (total && seen * 100 >= total * per_cent) {
            uint64_t bound = UINT64_C(64) << i;
            uint64_t longest = collector->handler_max_ticks;
            return ticks_span_ns(&collector->clock, bound < longest ? bound : longest);
        }
    }
    return 0;
}

static uint64_t cpu_not_followed_ns(const struct record_summary *summary)
{
    uint64_t sum_ns = summary->not_followed.more_cpu_ns;
    for (size_t i = 0; i < summary->not_followed.count; i++)
        sum_ns += summary->not_followed.items[i].cpu_ns;
    return sum_ns;
}

/* The kernel ends a pid namespace with its first process: for who is left there nobody waits, and nobody has their
 * bill. */
static bool lacks_bills(const struct collector *collector, uint64_t billed_ns)
{
    const struct record_summary *summary = collector->summary;
    if (collector->has_inner_pids)
        return billed_ns < summary->cpu_seen_ns - summary->cpu_seen_ns / NOISE_PARTS;
    return billed_ns < cpu_not_followed_ns(summary);
}

uint64_t collector_live_ns(const struct collector *collector)
{
    return collector->live_ns;
}

void collector_settle_tree(struct collector *collector, const char *program, uint64_t billed_ns,
                           uint64_t end_ns)
{
    struct record_summary *summary = collector->summary;
    if (!collector->has_root)
        images_start_silent(collector, collector->root_pid, program);
    if (collector->is_quiet)
        summary->cpu_before_ns = billed_ns;
    billed_ns = billed_ns > summary->cpu_before_ns ? billed_ns - summary->cpu_before_ns : 0;
    if (lacks_bills(collector, billed_ns))
        billed_ns = summary->cpu_seen_ns;
    summary->cpu_billed_ns = billed_ns;
    /* What no process of ours used: children that were never seen, or ended unseen. */
    struct image root = {.pid = collector->root_pid, .parent_pid = getpid()};
    if (billed_ns > summary->cpu_seen_ns + 1000000) {
        stack_write_synthetic(collector, &root, root.pid, SYNTHETIC_NOT_FOLLOWED,
                              billed_ns - summary->cpu_seen_ns, end_ns);
    }
    if (collector->is_root_silent) {
        images_add_cpu_not_followed(collector, root.pid, root.seen_ns);
        collector->round_ns = end_ns;
        images_write_exit(collector, &root);
    }
    summary->handler_p50_ns = handler_percentile_ns(collector, 50);
    summary->handler_p99_ns = handler_percentile_ns(collector, 99);
    summary->handler_max_ns = ticks_span_ns(&collector->clock, collector->handler_max_ticks);
    summary->compile_ns = compiler_cpu_ns(collector->compiler);
    summary->rows = compiler_rows(collector->compiler);
}

void collector_free(struct collector *collector)
{
    if (!collector)
        return;
    for (uint32_t i = 0; i < SESSION_PROCESSES; i++) {
        image_map_release(collector->images[i].map);
        proc_maps_free(&collector->images[i].first_mappings);
        arm_close(&collector->images[i].armed);
        if (collector->images[i].in_use && collector->images[i].pid_fd >= 0)
            close(collector->images[i].pid_fd);
    }
    if (collector->end_fd > 0)
        close(collector->end_fd);
    for (size_t i = 0; i < collector->miss_count; i++)
        image_map_release(collector->misses[i].map);
    free(collector->misses);
    buffer_free(&collector->miss_bytes);
    buffer_free(&collector->stack_room);
    free(collector->scratch);
    free(collector);
}
