/* SPDX-License-Identifier: MIT */
/*
 * Threads, of each event.
 *
 * The main event has all threads; each other event has its own threads below the process, "worker
 * (page-faults)", for selection instead.
 */
#include "export/firefox/firefox.h"

#include "base/containers/array.h"
#include "export/common.h"
#include "export/threads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void member_time_or_null(struct firefox *firefox, const char *key, uint64_t time_ns)
{
    if (time_ns)
        firefox_member_time(firefox, key, time_ns);
    else
        json_member_null(firefox->out, key);
}

/*
 * Makes ids unique: the kernel reuses pids and tids. The second process with pid 7 becomes "7.1".
 */
struct reuse {
    struct intern *keys;
    uint32_t *counts; /* by key */
    size_t count, capacity;
};

/* The number of earlier uses of the key. */
static uint32_t reuse_of(struct reuse *reuse, const void *key, size_t size)
{
    uint32_t id = intern_add(reuse->keys, key, size);
    if (id == reuse->count)
        ARRAY_PUSH(reuse->counts, reuse->count, reuse->capacity);
    return id < reuse->count ? reuse->counts[id]++ : 0;
}

struct ids {
    struct reuse pids, tids;
    uint32_t *pid_reuses; /* by process; PROFILE_NONE: process not written yet */
};

/* The plain id, or a string with the count of earlier uses. */
static void write_id(struct buffer *out, int32_t id, uint32_t reuse, bool as_string)
{
    char text[32];
    if (reuse)
        snprintf(text, sizeof(text), "%d.%u", id, reuse);
    else
        snprintf(text, sizeof(text), "%d", id);
    if (reuse || as_string)
        json_string(out, text);
    else
        json_integer(out, id);
}

/* A thread of the file; pointers into the profile, or to a stand-in. */
struct shown_thread {
    const struct profile_process *process;
    const struct profile_thread *thread;
    uint32_t index;   /* of the thread; PROFILE_NONE: a stand-in */
    bool has_markers; /* else the markers are in the track of the main event */
};

static void write_ids(struct firefox *firefox, struct ids *ids, const struct shown_thread *shown)
{
    const int32_t pid = shown->process->pid, tid = shown->thread->tid;
    const uint32_t key[] = {shown->thread->process, (uint32_t)tid};
    uint32_t *pid_reuse = &ids->pid_reuses[shown->thread->process];
    bool is_first = *pid_reuse == PROFILE_NONE;
    if (is_first)
        *pid_reuse = reuse_of(&ids->pids, &pid, sizeof(pid));
    json_member_bool(firefox->out, "isMainThread", is_first);
    json_key(firefox->out, "pid");
    write_id(firefox->out, pid, *pid_reuse, true);
    json_key(firefox->out, "tid");
    write_id(firefox->out, tid, reuse_of(&ids->tids, key, sizeof(key)), false);
}

/* "before: app" and "after: app" in a difference. */
static void member_process_name(struct firefox *firefox, const struct shown_thread *shown)
{
    struct buffer full = {0};
    if (firefox_has_comparison(firefox))
        buffer_text(&full,
                    export_is_base(firefox->options->diff, shown->index) ? "before: " : "after: ");
    buffer_text(&full, profile_text(firefox->profile, shown->process->name));
    buffer_text(&full, export_namespace_id("pid", shown->process->namespace_pid).text);
    buffer_u8(&full, 0);
    json_member_string(firefox->out, "processName", full.failed ? "" : (const char *)full.bytes);
    firefox->out->failed |= full.failed;
    buffer_free(&full);
}

static void write_names(struct firefox *firefox, const struct firefox_event *rows,
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
    member_process_name(firefox, shown);
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

static void write_thread(struct firefox *firefox, struct ids *ids, const struct firefox_event *rows,
                         const struct shown_thread *shown)
{
    json_open(firefox->out, '{');
    json_member_string(firefox->out, "processType", "default");
    write_names(firefox, rows, shown);
    write_ids(firefox, ids, shown);
    write_life(firefox, shown);
    firefox_write_samples(firefox, rows, shown->index);
    firefox_write_markers(firefox, shown->has_markers ? shown->index : PROFILE_NONE);
    json_close(firefox->out, '}');
}

static struct firefox_event rows_of(const struct profile *profile, uint32_t event)
{
    return (struct firefox_event){.index = event,
                                  .event = firefox_event_of(profile, event),
                                  .is_cpu_time = firefox_is_cpu_time(profile, event),
                                  .period = firefox_row_period(profile, event)};
}

static void write_track(struct firefox *firefox, struct ids *ids, const struct firefox_event *rows,
                        uint32_t index)
{
    const struct profile *profile = firefox->profile;
    const struct profile_thread *thread = &profile->threads[index];
    const struct shown_thread shown = {.process = &profile->processes[thread->process],
                                       .thread = thread,
                                       .index = index,
                                       .has_markers = rows->index == profile->main_event};
    write_thread(firefox, ids, rows, &shown);
}

static void write_tracks(struct firefox *firefox, struct ids *ids)
{
    const struct profile *profile = firefox->profile;
    struct firefox_event *rows = calloc(profile->event_count + 1, sizeof(*rows));
    firefox->texts.failed |= !rows;
    for (uint32_t i = 0; rows && (i == 0 || i < profile->event_count); i++)
        rows[i] = rows_of(profile, i);
    for (size_t i = 0; i < firefox->track_count && !firefox->texts.failed; i++)
        write_track(firefox, ids, &rows[firefox->tracks[i].event], firefox->tracks[i].thread);
    free(rows);
}

/* A recording of nothing: the front-end cannot open a file without a thread. */
static void write_stand_in(struct firefox *firefox, struct ids *ids)
{
    const struct firefox_event rows = {.index = firefox->profile->main_event};
    const struct profile_process process = {.name = firefox->profile->product};
    const struct profile_thread thread = {.name = firefox->profile->product};
    const struct shown_thread shown = {&process, &thread, PROFILE_NONE, false};
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
    struct ids ids;
    json_key(firefox->out, "threads");
    json_open(firefox->out, '[');
    if (ids_open(&ids, firefox->profile) != 0)
        firefox->texts.failed = true;
    else if (firefox->track_count == 0)
        write_stand_in(firefox, &ids);
    else
        write_tracks(firefox, &ids);
    if (firefox_has_comparison(firefox))
        firefox_write_comparison(firefox);
    json_close(firefox->out, ']');
    ids_close(&ids);
}
