/* SPDX-License-Identifier: MIT */
/*
 * Threads and their samples.
 *
 * The format has one weight a sample. Of the main event's samples every thread has a row; every
 * other event has its own rows below those of the same process, "worker (page-faults)", to be
 * selected instead. Weights:
 *
 *     CPU time   in periods, with six decimals, so that all sums stay true to the recording's CPU
 *                time. The column is null when every sample is exactly one period (then the
 *                front-end also computes traced time).
 *     off CPU    in ms
 *     the rest   counts, as they are
 *
 * Browsers fail to open much more than LARGEST_BYTES. Of a recording that would be larger, every `thinning`
 * neighbouring samples of a thread become one row: the stack and time of one of them, each with a chance
 * by its weight, and the weight of all.
 */
#include "export/firefox.h"

#include "base/array.h"
#include "base/hash.h"
#include "export/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void firefox_member_time(struct firefox *firefox, const char *key, uint64_t time_ns)
{
    uint64_t start_ns = firefox->profile->start_ns;
    json_member_millionths(firefox->out, key, time_ns > start_ns ? time_ns - start_ns : 0);
}

static void member_time_or_null(struct firefox *firefox, const char *key, uint64_t time_ns)
{
    if (time_ns)
        firefox_member_time(firefox, key, time_ns);
    else
        json_member_null(firefox->out, key);
}

enum { LARGEST_BYTES = 200000000 };

uint32_t export_firefox_thinning(const struct profile *profile)
{
    enum {
        SAMPLE_BYTES = 28,
        STACK_BYTES = 10,
        FRAME_BYTES = 60,
        SMALLEST_SHARE = LARGEST_BYTES / 4
    };
    uint64_t tables =
        profile->stack_count * (uint64_t)STACK_BYTES + profile->frame_count * (uint64_t)FRAME_BYTES;
    uint64_t share =
        tables < LARGEST_BYTES - SMALLEST_SHARE ? LARGEST_BYTES - tables : SMALLEST_SHARE;
    return (uint32_t)(1 + profile->sample_count * (uint64_t)SAMPLE_BYTES / share);
}

struct row { /* of the samples table */
    const struct profile_sample *shown;
    uint64_t weight;
};

static size_t row_count(const struct firefox *firefox, const struct thread_view *view)
{
    return view->sample_count / firefox->thinning + (view->sample_count % firefox->thinning != 0);
}

static struct row row_at(const struct firefox *firefox, const struct thread_view *view,
                         size_t index)
{
    size_t first = index * firefox->thinning, end = first + firefox->thinning;
    const struct profile_sample *samples = firefox->profile->samples;
    struct row row = {.shown = &samples[view->samples[first]]};
    if (end > view->sample_count)
        end = view->sample_count;
    for (size_t i = first; i < end; i++)
        row.weight += samples[view->samples[i]].weight;
    if (end - first == 1 || row.weight == 0)
        return row;
    uint64_t chance = hash_word(index + 1) % row.weight;
    for (size_t i = first; i < end; i++) {
        row.shown = &samples[view->samples[i]];
        if (chance < row.shown->weight)
            break;
        chance -= row.shown->weight;
    }
    return row;
}

/* a / b in millionths, rounded; no overflow below a period of five hours. */
static uint64_t ratio_millionths(uint64_t a, uint64_t b)
{
    return a / b * 1000000 + (a % b * 1000000 + b / 2) / b;
}

static void write_stack_column(struct firefox *firefox, const struct thread_view *view)
{
    json_key(firefox->out, "stack");
    json_open(firefox->out, '[');
    for (size_t i = 0; i < row_count(firefox, view); i++) {
        uint32_t stack = row_at(firefox, view, i).shown->stack;
        if (stack == PROFILE_NONE)
            json_null(firefox->out);
        else
            json_unsigned(firefox->out, stack);
    }
    json_close(firefox->out, ']');
}

/* The first delta counts from the start of the recording. Never negative, also if clocks disagreed.
 */
static void write_time_column(struct firefox *firefox, const struct thread_view *view)
{
    uint64_t before_ns = firefox->profile->start_ns;
    json_key(firefox->out, "timeDeltas");
    json_open(firefox->out, '[');
    for (size_t i = 0; i < row_count(firefox, view); i++) {
        uint64_t time_ns = row_at(firefox, view, i).shown->time_ns;
        if (time_ns < before_ns)
            time_ns = before_ns;
        json_millionths(firefox->out, time_ns - before_ns);
        before_ns = time_ns;
    }
    json_close(firefox->out, ']');
}

/* One event's threads while they are written. */
struct event_rows {
    uint32_t index;
    struct profile_event event;
    uint64_t period;
    bool is_cpu_time;
    bool is_uniform; /* every sample weighs one period */
    struct thread_list threads;
};

static bool is_uniform(const struct profile *profile, const struct event_rows *rows)
{
    for (size_t i = 0; i < profile->sample_count; i++)
        if (profile->samples[i].event == rows->index && profile->samples[i].weight != rows->period)
            return false;
    return true;
}

static void write_weight(struct firefox *firefox, const struct event_rows *rows, uint64_t weight)
{
    if (rows->is_cpu_time)
        json_millionths(firefox->out, ratio_millionths(weight, rows->period));
    else if (rows->event.unit == PROFILE_NANOSECONDS)
        json_millionths(firefox->out, weight);
    else
        json_unsigned(firefox->out, weight);
}

static void write_weight_column(struct firefox *firefox, const struct event_rows *rows,
                                const struct thread_view *view)
{
    json_member_string(firefox->out, "weightType",
                       rows->event.is_off_cpu ? "tracing-ms" : "samples");
    if (rows->is_cpu_time && rows->is_uniform && firefox->thinning == 1) {
        json_member_null(firefox->out, "weight");
        return;
    }
    json_key(firefox->out, "weight");
    json_open(firefox->out, '[');
    for (size_t i = 0; i < row_count(firefox, view); i++)
        write_weight(firefox, rows, row_at(firefox, view, i).weight);
    json_close(firefox->out, ']');
}

/* CPU time since the thread's sample before: that is what a sample's weight is, of a clock. */
static void write_cpu_column(struct firefox *firefox, const struct event_rows *rows,
                             const struct thread_view *view)
{
    json_key(firefox->out, "threadCPUDelta");
    json_open(firefox->out, '[');
    for (size_t i = 0; i < row_count(firefox, view); i++) {
        if (rows->is_cpu_time)
            json_unsigned(firefox->out, row_at(firefox, view, i).weight);
        else if (rows->event.is_off_cpu)
            json_unsigned(firefox->out, 0);
        else
            json_null(firefox->out);
    }
    json_close(firefox->out, ']');
}

static void write_samples(struct firefox *firefox, const struct event_rows *rows,
                          const struct thread_view *view)
{
    json_key(firefox->out, "samples");
    json_open(firefox->out, '{');
    json_member_unsigned(firefox->out, "length", row_count(firefox, view));
    write_stack_column(firefox, view);
    write_time_column(firefox, view);
    write_weight_column(firefox, rows, view);
    write_cpu_column(firefox, rows, view);
    json_close(firefox->out, '}');
}

/*
 * Numbers that must be unique and are not: the kernel gives pids and tids again. The second process
 * with pid 7 becomes "7.1".
 */
struct reuse {
    struct intern *keys;
    uint32_t *counts; /* by key */
    size_t count, capacity;
};

/* How often the key was asked for before. */
static uint32_t reuse_of(struct reuse *reuse, const void *key, size_t size)
{
    uint32_t id = intern_add(reuse->keys, key, size);
    if (id == reuse->count)
        ARRAY_PUSH(reuse->counts, reuse->count, reuse->capacity);
    return id < reuse->count ? reuse->counts[id]++ : 0;
}

struct ids {
    struct reuse pids, tids;
    uint32_t *pid_reuses; /* by process; PROFILE_NONE: nothing of it was written yet */
};

/* The id as it is, or as a string with the count of earlier uses. */
static void write_id(struct buffer *out, uint32_t id, uint32_t reuse, bool as_string)
{
    char text[32];
    if (reuse)
        snprintf(text, sizeof(text), "%u.%u", id, reuse);
    else
        snprintf(text, sizeof(text), "%u", id);
    if (reuse || as_string)
        json_string(out, text);
    else
        json_unsigned(out, id);
}

/* A thread as it is written; pointers into the profile, or to a stand-in. */
struct shown_thread {
    const struct profile_process *process;
    const struct profile_thread *thread;
    struct thread_view view;
    struct firefox_markers markers;
};

static void write_ids(struct firefox *firefox, struct ids *ids, const struct shown_thread *shown)
{
    const uint32_t pid = shown->process->pid;
    const uint32_t key[] = {shown->thread->process, shown->thread->tid};
    uint32_t *pid_reuse = &ids->pid_reuses[shown->thread->process];
    bool is_first = *pid_reuse == PROFILE_NONE;
    if (is_first)
        *pid_reuse = reuse_of(&ids->pids, &pid, sizeof(pid));
    json_member_bool(firefox->out, "isMainThread", is_first);
    json_key(firefox->out, "pid");
    write_id(firefox->out, pid, *pid_reuse, true);
    json_key(firefox->out, "tid");
    write_id(firefox->out, key[1], reuse_of(&ids->tids, key, sizeof(key)), false);
}

static void write_names(struct firefox *firefox, const struct event_rows *rows,
                        const struct shown_thread *shown)
{
    const struct profile *profile = firefox->profile;
    const char *process_name = profile_text(profile, shown->process->name);
    const char *name = profile_text(profile, shown->thread->name);
    struct buffer full = {0};
    buffer_text(&full, name[0] ? name : process_name);
    if (rows->index != profile->main_event)
        buffer_printf(&full, " (%s)", profile_text(profile, rows->event.name));
    buffer_u8(&full, 0);
    json_member_string(firefox->out, "processName", process_name);
    json_member_string(firefox->out, "name", full.failed ? "" : (const char *)full.bytes);
    firefox->out->failed |= full.failed;
    buffer_free(&full);
}

static void write_life(struct firefox *firefox, const struct shown_thread *shown)
{
    firefox_member_time(firefox, "processStartupTime", shown->process->start_ns);
    member_time_or_null(firefox, "processShutdownTime", shown->process->end_ns);
    firefox_member_time(firefox, "registerTime", shown->thread->start_ns);
    member_time_or_null(firefox, "unregisterTime", shown->thread->end_ns);
    json_key(firefox->out, "pausedRanges");
    json_open(firefox->out, '[');
    json_close(firefox->out, ']');
}

static void write_thread(struct firefox *firefox, struct ids *ids, const struct event_rows *rows,
                         const struct shown_thread *shown)
{
    json_open(firefox->out, '{');
    json_member_string(firefox->out, "processType", "default");
    write_names(firefox, rows, shown);
    write_ids(firefox, ids, shown);
    write_life(firefox, shown);
    write_samples(firefox, rows, &shown->view);
    firefox_write_markers(firefox, shown->markers);
    json_close(firefox->out, '}');
}

static void write_each(struct firefox *firefox, struct ids *ids, const struct event_rows *rows)
{
    const struct profile *profile = firefox->profile;
    for (size_t i = 0; i < rows->threads.count && !firefox->texts.failed; i++) {
        struct shown_thread shown = {.view = rows->threads.views[i]};
        shown.thread = &profile->threads[shown.view.thread];
        shown.process = &profile->processes[shown.thread->process];
        if (rows->index == profile->main_event)
            shown.markers = firefox_markers_of(firefox, shown.view.thread);
        if (shown.view.sample_count > 0 || rows->index == profile->main_event)
            write_thread(firefox, ids, rows, &shown);
    }
}

static void write_event(struct firefox *firefox, struct ids *ids, uint32_t index)
{
    const struct profile *profile = firefox->profile;
    struct event_rows rows = {.index = index, .period = export_period(profile, index)};
    rows.event =
        index < profile->event_count ? profile->events[index] : profile_main_event(profile);
    rows.is_cpu_time = rows.event.unit == PROFILE_NANOSECONDS && !rows.event.is_off_cpu;
    rows.is_uniform = is_uniform(profile, &rows);
    if (thread_list_collect(&rows.threads, profile, index) == 0)
        write_each(firefox, ids, &rows);
    else
        firefox->texts.failed = true;
    thread_list_free(&rows.threads);
}

/* A recording of nothing: the front-end cannot open a file without a thread. */
static void write_stand_in(struct firefox *firefox, struct ids *ids)
{
    const struct event_rows rows = {.index = firefox->profile->main_event};
    const struct profile_process process = {.name = firefox->profile->product};
    const struct profile_thread thread = {.name = firefox->profile->product};
    const struct shown_thread shown = {&process, &thread, {.is_main = true}, {0}};
    write_thread(firefox, ids, &rows, &shown);
}

static int ids_open(struct ids *ids, const struct profile *profile)
{
    *ids = (struct ids){.pids.keys = intern_new(), .tids.keys = intern_new()};
    ids->pid_reuses = malloc((profile->process_count + 1) * sizeof(*ids->pid_reuses));
    if (!ids->pids.keys || !ids->tids.keys || !ids->pid_reuses)
        return -ENOMEM;
    for (size_t i = 0; i <= profile->process_count; i++)
        ids->pid_reuses[i] = PROFILE_NONE;
    return 0;
}

static void ids_close(struct ids *ids)
{
    intern_free(ids->pids.keys);
    intern_free(ids->tids.keys);
    free(ids->pids.counts);
    free(ids->tids.counts);
    free(ids->pid_reuses);
}

void firefox_write_threads(struct firefox *firefox)
{
    const struct profile *profile = firefox->profile;
    struct ids ids;
    json_key(firefox->out, "threads");
    json_open(firefox->out, '[');
    if (ids_open(&ids, profile) != 0)
        firefox->texts.failed = true;
    else if (profile->thread_count == 0)
        write_stand_in(firefox, &ids);
    else
        write_event(firefox, &ids, profile->main_event);
    for (uint32_t i = 0; i < profile->event_count && !firefox->texts.failed; i++)
        if (i != profile->main_event)
            write_event(firefox, &ids, i);
    json_close(firefox->out, ']');
    ids_close(&ids);
}
