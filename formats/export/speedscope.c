/* SPDX-License-Identifier: MIT */
/*
 * speedscope's own file: "sampled" profiles, each sample a list of frames with inlined frames, root
 * first. The first profile has all threads, one after the other; a profile for each thread follows.
 * A single thread has a single profile. speedscope's views merge by frame index, so a frame is a
 * function with its file and the line of the definition, not the executing line.
 *
 * Neighbouring samples of equal stack become a single sample: the same time line in a smaller file.
 */
#include "export/export.h"

#include "base/text/decimal.h"
#include "export/common.h"
#include "export/encoding/json.h"
#include "export/threads.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct speedscope_frame {
    uint32_t name; /* text */
    uint32_t file; /* text, or PROFILE_NONE */
};

struct speedscope {
    const struct profile *profile;
    struct buffer *out;
    struct text_table texts;
    struct thread_list threads;
    const char *unit;      /* of all weights: the format has no counts but "none" */
    struct intern *frames; /* key: struct speedscope_frame */
    uint32_t *lines;       /* by row of frames; 0: unknown */
    struct number *rows;   /* by frame of the model, as stacks spell them */
    uint32_t *path;        /* scratch: a stack, leaf first */
    struct buffer spelled; /* recently formatted stacks: "[1,2,3]" */
    struct span *spans;    /* ranges of spelled, by call plus one; no bytes: not formatted */
};

enum {
    SPELLED_BYTES = 32 << 20,
    SOON = 8, /* while so many stacks are written, memory answers */
};

struct span { /* in spelled */
    uint32_t start, bytes;
};

struct number { /* "123," */
    char text[15];
    uint8_t length;
};

static uint32_t frame_row(struct speedscope *scope, const struct profile_frame *frame)
{
    const struct profile *profile = scope->profile;
    uint32_t file = export_frame_file(profile, frame);
    const struct speedscope_frame key = {
        .name = text_table_add_func(&scope->texts, profile, frame->func),
        .file = file == PROFILE_NONE ? PROFILE_NONE
                                     : text_table_add(&scope->texts, profile_text(profile, file)),
    };
    uint32_t row = intern_add(scope->frames, &key, sizeof(key));
    if (row == INTERN_NONE)
        scope->texts.failed = true;
    else if (scope->lines[row] == 0)
        scope->lines[row] = export_func_line(profile, frame->func, file);
    return row;
}

static void write_frames(struct speedscope *scope)
{
    json_key(scope->out, "shared");
    json_open(scope->out, '{');
    json_key(scope->out, "frames");
    json_open(scope->out, '[');
    for (uint32_t i = 0; i < intern_count(scope->frames); i++) {
        const struct speedscope_frame *frame = intern_bytes(scope->frames, i, NULL);
        json_open(scope->out, '{');
        json_member_string(scope->out, "name", intern_string(scope->texts.texts, frame->name));
        if (frame->file != PROFILE_NONE)
            json_member_string(scope->out, "file", intern_string(scope->texts.texts, frame->file));
        if (scope->lines[i])
            json_member_unsigned(scope->out, "line", scope->lines[i]);
        json_close(scope->out, '}');
    }
    json_close(scope->out, ']');
    json_close(scope->out, '}');
}

static struct number number_of(uint32_t row)
{
    struct number number = {.text = ""};
    char *end = number.text + sizeof(number.text);
    char *start = decimal_before(end, row);
    number.length = (uint8_t)(end - start + 1);
    memmove(number.text, start, (size_t)(end - start));
    number.text[end - start] = ',';
    return number;
}

/* Stacks are most of the file, so each row number is formatted in advance, once. */
static void spell_stack(struct speedscope *scope, uint32_t stack)
{
    const struct profile *profile = scope->profile;
    struct buffer *out = &scope->spelled;
    size_t depth = 0;
    for (; stack != PROFILE_NONE; stack = profile->stacks[stack].parent)
        scope->path[depth++] = profile->stacks[stack].frame;
    buffer_append(out, "[", 1);
    char *start = (char *)buffer_room(out, (depth + 1) * sizeof(struct number)), *at = start;
    for (; start && depth > 0; at += scope->rows[scope->path[depth]].length)
        memcpy(at, scope->rows[scope->path[--depth]].text, sizeof(scope->rows->text));
    if (at != start) /* without the last comma */
        out->size += (size_t)(at - 1 - start);
    buffer_append(out, "]", 1);
}

/* A stack's frames lie all over memory, and programs are in the same places again and again. */
static void write_stack(struct speedscope *scope, uint32_t call)
{
    struct buffer *spelled = &scope->spelled;
    struct span *span = &scope->spans[(uint32_t)(call + 1)]; /* none, the largest, is 0 */
    if (span->bytes == 0 && spelled->size >= SPELLED_BYTES) {
        buffer_clear(spelled);
        memset(scope->spans, 0, (scope->profile->call_count + 1) * sizeof(*scope->spans));
    }
    if (span->bytes == 0) {
        span->start = (uint32_t)spelled->size;
        spell_stack(scope, profile_stack_of(scope->profile, call));
        span->bytes = (uint32_t)(spelled->size - span->start);
    }
    if (spelled->failed)
        scope->out->failed = true;
    else
        json_spelled(scope->out, spelled->bytes + span->start, span->bytes);
}

struct views { /* the threads of a profile */
    const struct thread_view *first;
    size_t count;
};

/* Iterator over runs of neighbouring samples of the same call, hence of the same stack. */
struct runs {
    struct sample_reader samples; /* at the first of the next run, … */
    bool has_next;                /* … if present */
    uint32_t call;                /* of the run at hand */
    uint64_t weight;
};

static struct runs runs_of(const struct speedscope *scope, uint32_t thread)
{
    const struct profile *profile = scope->profile;
    struct runs runs = {
        .samples = profile_read_list(profile_list_of(profile, thread, profile->main_event))};
    runs.has_next = sample_reader_next(&runs.samples);
    return runs;
}

static bool next_run(struct runs *runs)
{
    const struct profile_sample *next = &runs->samples.sample;
    if (!runs->has_next)
        return false;
    runs->call = next->call;
    runs->weight = 0;
    do {
        runs->weight += next->weight;
        runs->has_next = sample_reader_next(&runs->samples);
    } while (runs->has_next && next->call == runs->call);
    return true;
}

/* Prefetches the span of a run a few runs ahead. */
static void expect_span(const struct speedscope *scope, struct runs *ahead)
{
    if (next_run(ahead))
        __builtin_prefetch(&scope->spans[(uint32_t)(ahead->call + 1)]);
}

static void write_stacks(struct speedscope *scope, uint32_t thread)
{
    struct runs runs = runs_of(scope, thread), ahead = runs;
    for (int i = 0; i < SOON; i++)
        expect_span(scope, &ahead);
    while (next_run(&runs)) {
        expect_span(scope, &ahead);
        write_stack(scope, runs.call);
    }
}

static void write_run_weights(struct speedscope *scope, uint32_t thread)
{
    for (struct runs runs = runs_of(scope, thread); next_run(&runs);)
        json_unsigned(scope->out, runs.weight);
}

static void write_column(struct speedscope *scope, const char *key, struct views views,
                         void (*write)(struct speedscope *scope, uint32_t thread))
{
    json_key(scope->out, key);
    json_open(scope->out, '[');
    for (size_t i = 0; i < views.count; i++)
        write(scope, views.first[i].thread);
    json_close(scope->out, ']');
}

static uint64_t thread_weight(const struct speedscope *scope, uint32_t thread)
{
    const struct profile *profile = scope->profile;
    const struct profile_list *list = profile_list_of(profile, thread, profile->main_event);
    return list ? list->samples.weight : 0;
}

static void write_name(struct speedscope *scope, const struct profile_thread *thread)
{
    const struct profile *profile = scope->profile;
    const struct profile_process *process = &profile->processes[thread->process];
    struct buffer name = {0};
    buffer_printf(&name, "%s (%d)", profile_text(profile, process->name), process->pid);
    if (!thread->is_main)
        buffer_printf(&name, " %s (%d)", profile_text(profile, thread->name), thread->tid);
    buffer_u8(&name, 0);
    if (name.failed)
        scope->out->failed = true;
    else
        json_member_string(scope->out, "name", (const char *)name.bytes);
    buffer_free(&name);
}

static uint64_t views_weight(const struct speedscope *scope, struct views views)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < views.count; i++)
        weight += thread_weight(scope, views.first[i].thread);
    return weight;
}

/* After the name. */
static void write_rest(struct speedscope *scope, struct views views)
{
    json_member_string(scope->out, "unit", scope->unit);
    json_member_unsigned(scope->out, "startValue", 0);
    json_member_unsigned(scope->out, "endValue", views_weight(scope, views));
    write_column(scope, "samples", views, write_stacks);
    write_column(scope, "weights", views, write_run_weights);
    json_close(scope->out, '}');
}

static void write_thread(struct speedscope *scope, const struct thread_view *view)
{
    json_open(scope->out, '{');
    json_member_string(scope->out, "type", "sampled");
    write_name(scope, &scope->profile->threads[view->thread]);
    write_rest(scope, (struct views){view, 1});
}

static void write_all_threads(struct speedscope *scope, size_t shown)
{
    char name[64];
    snprintf(name, sizeof(name), "all %zu threads", shown);
    json_open(scope->out, '{');
    json_member_string(scope->out, "type", "sampled");
    json_member_string(scope->out, "name", name);
    write_rest(scope, (struct views){scope->threads.views, scope->threads.count});
}

/* A main thread without samples is not worth an empty chart, unless there is nothing else to show.
 */
static bool is_shown(const struct speedscope *scope, const struct thread_view *view)
{
    return view->sample_count > 0 || scope->threads.sample_count == 0;
}

static void write_profiles(struct speedscope *scope)
{
    size_t shown = 0;
    for (size_t i = 0; i < scope->threads.count; i++)
        shown += is_shown(scope, &scope->threads.views[i]);
    if (shown > 1)
        write_all_threads(scope, shown);
    for (size_t i = 0; i < scope->threads.count; i++)
        if (is_shown(scope, &scope->threads.views[i]))
            write_thread(scope, &scope->threads.views[i]);
}

static void write_all(struct speedscope *scope)
{
    const struct profile *profile = scope->profile;
    for (size_t i = 0; i < profile->frame_count && !scope->texts.failed; i++)
        scope->rows[i] = number_of(frame_row(scope, &profile->frames[i]));
    if (scope->texts.failed)
        return;
    json_open(scope->out, '{');
    json_member_string(scope->out, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_member_string(scope->out, "name", profile_text(profile, profile->product));
    json_member_string(scope->out, "exporter", "rec");
    json_member_unsigned(scope->out, "activeProfileIndex", 0);
    write_frames(scope);
    json_key(scope->out, "profiles");
    json_open(scope->out, '[');
    write_profiles(scope);
    json_close(scope->out, ']');
    json_close(scope->out, '}');
}

static int speedscope_open(struct speedscope *scope)
{
    const struct profile *profile = scope->profile;
    bool is_time = profile_main_event(profile).unit == PROFILE_NANOSECONDS;
    scope->unit = is_time ? "nanoseconds" : "none";
    scope->frames = intern_new();
    scope->rows = calloc(profile->frame_count + 1, sizeof(*scope->rows));
    scope->lines = calloc(profile->frame_count + 1, sizeof(*scope->lines));
    scope->path = calloc(profile->stack_count + 1, sizeof(*scope->path));
    scope->spans = calloc(profile->call_count + 1, sizeof(*scope->spans));
    if (!scope->frames || !scope->rows || !scope->lines || !scope->path || !scope->spans ||
        text_table_open(&scope->texts) != 0)
        return -ENOMEM;
    return thread_list_collect(&scope->threads, profile, profile->main_event);
}

static int speedscope_write(const struct profile *profile, const struct export_options *options,
                            struct buffer *out, struct error *error)
{
    (void)options;
    struct speedscope scope = {.profile = profile, .out = out};
    int err = speedscope_open(&scope);
    if (err == 0)
        write_all(&scope);
    if (scope.texts.failed || out->failed)
        err = -ENOMEM;
    if (err != 0)
        error_set(error, err, "not enough memory to write the speedscope file");
    intern_free(scope.frames);
    free(scope.rows);
    free(scope.lines);
    free(scope.path);
    free(scope.spans);
    buffer_free(&scope.spelled);
    text_table_close(&scope.texts);
    thread_list_free(&scope.threads);
    return err;
}

static const char *const suffixes[] = {".speedscope.json", ".speedscope.json.gz", NULL};

const struct exporter export_speedscope = {
    .name = "speedscope",
    .description = "speedscope file, for https://www.speedscope.app, threads together and apart",
    .suffixes = suffixes,
    .compressed_suffix = ".gz",
    .gzip_level = 1,
    .has_one_event = true,
    .has_times = true,
    .write = speedscope_write,
};
