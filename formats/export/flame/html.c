/* SPDX-License-Identifier: MIT */
/*
 * A web page in one file: flame graph, functions, callers and callees. The page (folder page/) is
 * text of the program; the profile is a JSON object in a <script> element of a type that no browser
 * executes. The page makes no request: its Content-Security-Policy refuses all.
 *
 *     strings    all texts, by index; functions and modules refer to strings
 *     frames     function, kind: of code, plus 8 if inlined
 *     nodes      the call tree without the root; up: distance to the parent, 0: the root
 *     lists      for each event of a thread: nodes (as distances) and their weights
 *
 *     diff       of a difference only: see page/diff.js; lists are the new side's
 *
 * Weights are sums per node and thread, so the page adds up any selection of threads.
 */
#include "export/export.h"

#include "export/common.h"
#include "export/flame/html_weights.h"
#include "export/flame/page.h"
#include "export/encoding/json.h"
#include "export/notes.h"
#include "profile/synthetic.h"
#include "profile/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_DATA_VERSION = 1, KIND_INLINED = 8 };

struct html {
    const struct profile *profile;
    const struct export_diff *diff; /* NULL: none */
    struct buffer *out;
    struct call_tree tree;
    struct text_table texts;
    uint32_t *funcs; /* functions of the file, as indices of the profile */
    uint32_t func_count;
    uint32_t *func_rows; /* by function of the profile, plus one; 0: not in the file */
    uint64_t *weights;   /* scratch, by node */
};

static uint32_t text_row(struct html *html, const char *text)
{
    return text_table_add(&html->texts, text);
}

static void open_column(struct html *html, const char *key)
{
    json_key(html->out, key);
    json_open(html->out, '[');
}

static void close_column(struct html *html)
{
    json_close(html->out, ']');
}

/* Functions in the order of their first frame. */
static void choose_functions(struct html *html)
{
    for (uint32_t i = 0; i < html->tree.frame_count; i++) {
        uint32_t func = html->tree.frames[i].func;
        if (html->func_rows[func] == 0) {
            html->funcs[html->func_count++] = func;
            html->func_rows[func] = html->func_count;
        }
    }
}

static void write_modules(struct html *html)
{
    const struct profile *profile = html->profile;
    open_column(html, "modules");
    for (size_t i = 0; i < profile->lib_count; i++) {
        json_open(html->out, '{');
        json_member_unsigned(html->out, "name",
                             text_row(html, profile_text(profile, profile->libs[i].name)));
        json_member_unsigned(html->out, "path",
                             text_row(html, profile_text(profile, profile->libs[i].path)));
        json_close(html->out, '}');
    }
    close_column(html);
}

static void write_functions(struct html *html)
{
    const struct profile *profile = html->profile;
    struct buffer *out = html->out;
    json_key(out, "functions");
    json_open(out, '{');
    open_column(html, "name");
    for (uint32_t i = 0; i < html->func_count; i++)
        json_unsigned(out, text_table_add_func(&html->texts, profile, html->funcs[i]));
    close_column(html);
    open_column(html, "module"); /* -1: none */
    for (uint32_t i = 0; i < html->func_count; i++)
        json_integer(out, (int32_t)profile->funcs[html->funcs[i]].lib);
    close_column(html);
    open_column(html, "file"); /* -1: unknown */
    for (uint32_t i = 0; i < html->func_count; i++) {
        uint32_t file = profile->funcs[html->funcs[i]].file;
        json_integer(
            out, file == PROFILE_NONE ? -1 : (int64_t)text_row(html, profile_text(profile, file)));
    }
    close_column(html);
    open_column(html, "line");
    for (uint32_t i = 0; i < html->func_count; i++)
        json_unsigned(out, profile->funcs[html->funcs[i]].line);
    close_column(html);
    json_close(out, '}');
}

static void write_tree(struct html *html)
{
    const struct call_tree *tree = &html->tree;
    json_key(html->out, "frames");
    json_open(html->out, '{');
    open_column(html, "function");
    for (uint32_t i = 0; i < tree->frame_count; i++)
        json_unsigned(html->out, html->func_rows[tree->frames[i].func] - 1);
    close_column(html);
    open_column(html, "kind");
    for (uint32_t i = 0; i < tree->frame_count; i++)
        json_unsigned(html->out,
                      tree->frames[i].kind + (tree->frames[i].is_inlined ? KIND_INLINED : 0));
    close_column(html);
    json_close(html->out, '}');
    json_key(html->out, "nodes");
    json_open(html->out, '{');
    open_column(html, "up");
    for (uint32_t i = 1; i < tree->node_count; i++)
        json_unsigned(html->out,
                      tree->nodes[i].parent == CALL_TREE_ROOT ? 0 : i - tree->nodes[i].parent);
    close_column(html);
    open_column(html, "frame");
    for (uint32_t i = 1; i < tree->node_count; i++)
        json_unsigned(html->out, tree->nodes[i].frame);
    close_column(html);
    json_close(html->out, '}');
}

static void write_processes(struct html *html)
{
    const struct profile *profile = html->profile;
    open_column(html, "processes");
    for (size_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        json_open(html->out, '{');
        json_member_string(html->out, "name", profile_text(profile, process->name));
        json_member_integer(html->out, "pid", process->pid);
        json_close(html->out, '}');
    }
    close_column(html);
    open_column(html, "threads");
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct profile_thread *thread = &profile->threads[i];
        json_open(html->out, '{');
        json_member_unsigned(html->out, "process", thread->process);
        json_member_string(html->out, "name", profile_text(profile, thread->name));
        json_member_integer(html->out, "tid", thread->tid);
        json_close(html->out, '}');
    }
    close_column(html);
}

/* Of a difference for each run, as the weights are. */
static uint64_t count_measured(const struct html *html, const struct profile_list *list)
{
    const struct profile *profile = html->profile;
    uint64_t count = 0;
    struct sample_reader reader = profile_read_list(list);
    while (sample_reader_next(&reader))
        count += sample_is_measured(profile, &reader.sample) ? reader.sample.count : 0;
    return html->diff ? count / html->diff->new_runs : count;
}

static void write_lists(struct html *html)
{
    const struct profile *profile = html->profile;
    open_column(html, "lists");
    for (size_t i = 0; i < profile->list_count; i++) {
        const struct profile_list *list = &profile->lists[i];
        if (export_is_base(html->diff, list->thread))
            continue;
        memset(html->weights, 0, html->tree.node_count * sizeof(*html->weights));
        call_tree_add_list(&html->tree, list, html->weights);
        json_open(html->out, '{');
        json_member_unsigned(html->out, "thread", list->thread);
        json_member_unsigned(html->out, "event", list->event);
        json_member_unsigned(html->out, "samples", count_measured(html, list));
        html_write_weights(html->out, &html->tree, html->weights);
        json_close(html->out, '}');
    }
    close_column(html);
}

static void write_event(struct html *html, const struct profile_event *event)
{
    json_open(html->out, '{');
    json_member_string(html->out, "name", profile_text(html->profile, event->name));
    json_member_bool(html->out, "is_time", event->unit == PROFILE_NANOSECONDS);
    json_member_bool(html->out, "is_off_cpu", event->is_off_cpu);
    json_member_bool(html->out, "is_wall", event->is_wall);
    json_close(html->out, '}');
}

static void write_events(struct html *html)
{
    const struct profile *profile = html->profile;
    const struct profile_event main_event = profile_main_event(profile);
    open_column(html, "events");
    for (size_t i = 0; i < profile->event_count; i++)
        write_event(html, &profile->events[i]);
    if (profile->event_count == 0)
        write_event(html, &main_event);
    close_column(html);
    json_member_unsigned(html->out, "main_event", profile->main_event);
}

/* Behind the opening brace. */
static void write_recording(struct html *html)
{
    const struct profile *profile = html->profile;
    struct buffer *out = html->out;
    json_member_unsigned(out, "version", PAGE_DATA_VERSION);
    json_member_string(out, "program", profile_text(profile, profile->product));
    json_member_string(out, "command", profile_text(profile, profile->command_line));
    json_member_string(out, "os", profile_text(profile, profile->os));
    json_member_string(out, "cpu", profile_text(profile, profile->cpu));
    json_member_unsigned(out, "cpus", profile->cpus_online);
    json_member_millionths(out, "start_ms", profile->start_wall_ns);
    open_column(html, "notes");
    export_write_notes(profile, out);
    close_column(html);
}

static void write_strings(struct html *html)
{
    open_column(html, "strings");
    for (uint32_t i = 0; i < intern_count(html->texts.texts); i++)
        json_string(html->out, intern_string(html->texts.texts, i));
    close_column(html);
}

static void write_all(struct html *html)
{
    choose_functions(html);
    buffer_append(html->out, page_head, page_head_bytes);
    buffer_text(html->out, "{");
    write_recording(html);
    write_events(html);
    write_processes(html);
    write_modules(html);
    write_functions(html);
    write_tree(html);
    write_lists(html);
    if (html->diff)
        html_write_diff(html->out, &html->tree, html->diff, html->funcs, html->func_count,
                        html->weights);
    write_strings(html);
    json_close(html->out, '}');
    buffer_append(html->out, page_tail, page_tail_bytes);
}

static int html_open(struct html *html)
{
    const struct profile *profile = html->profile;
    int err = call_tree_build(&html->tree, profile);
    if (!err)
        err = text_table_open(&html->texts);
    html->funcs = calloc(profile->func_count + 1, sizeof(*html->funcs));
    html->func_rows = calloc(profile->func_count + 1, sizeof(*html->func_rows));
    html->weights = calloc(html->tree.node_count + 1, sizeof(*html->weights));
    return html->funcs && html->func_rows && html->weights ? err : -ENOMEM;
}

static int html_write(const struct profile *profile, const struct export_options *options,
                      struct buffer *out, struct error *error)
{
    struct html html = {.profile = profile, .out = out, .diff = options ? options->diff : NULL};
    int err = html_open(&html);
    if (!err)
        write_all(&html);
    if (html.texts.failed || out->failed)
        err = -ENOMEM;
    if (err)
        error_set(error, err, "not enough memory to write the page");
    call_tree_free(&html.tree);
    text_table_close(&html.texts);
    free(html.funcs);
    free(html.func_rows);
    free(html.weights);
    return err;
}

static const char *const suffixes[] = {".html", NULL};

const struct exporter export_html = {
    .name = "html",
    .description = "web page without requests: flame graph, functions, callers and callees",
    .suffixes = suffixes,
    .has_diff = true,
    .gzip_level = 6,
    .write = html_write,
};
