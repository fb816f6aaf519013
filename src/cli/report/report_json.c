/* SPDX-License-Identifier: MIT */
#include "cli/report/report_rows.h"

#include "cli/report/json_report.h"
#include "profile/synthetic.h"
#include "cli/terminal/weight.h"
#include "export/encoding/json.h"

static void append_weights(const struct profile *profile, uint64_t self, uint64_t total,
                           struct buffer *out)
{
    json_member_unsigned(out, weight_key(profile, "self_ns", "self"), self);
    json_member_unsigned(out, weight_key(profile, "total_ns", "total"), total);
}

static void append_function(const struct report *report, const struct report_function *function,
                            struct buffer *out)
{
    const struct profile *profile = report->profile;
    const struct profile_func *func = &profile->funcs[function->func];
    json_open(out, '{');
    json_member_string(out, "name", report_name(profile, function->func));
    if (func->lib != PROFILE_NONE)
        json_member_string(out, "module", profile_text(profile, profile->libs[func->lib].path));
    if (func->file != PROFILE_NONE)
        json_member_string(out, "file", profile_text(profile, func->file));
    if (func->line)
        json_member_unsigned(out, "line", func->line);
    append_weights(profile, function->self, function->total, out);
    json_close(out, '}');
}

/* A flat list, callers first; `caller` is an index into the list, -1 for the root of a thread.
 * JSON readers limit nesting; deep recursion would exceed the limit. */
static void append_nodes(const struct report *report, struct buffer *out)
{
    const struct profile *profile = report->profile;
    json_key(out, "calls");
    json_open(out, '[');
    for (size_t i = 1; i < report->node_count; i++) {
        const struct report_node *node = &report->nodes[i];
        json_open(out, '{');
        json_key(out, "caller");
        json_integer(out, (int64_t)node->parent - 1);
        json_member_string(out, "name", report_name(profile, node->func));
        append_weights(profile, node->self, node->total, out);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void append_files(const struct inputs *inputs, struct buffer *out)
{
    if (inputs->count == 1)
        return;
    json_key(out, "files");
    json_open(out, '[');
    for (size_t i = 0; i < inputs->count; i++)
        json_string(out, inputs->paths[i]);
    json_close(out, ']');
}

static void append_row(const struct report *report, const struct report_row *row,
                       struct buffer *out)
{
    json_open(out, '{');
    json_member_string(out, "name", row->name);
    if (row->module[0])
        json_member_string(out, "module", row->module);
    if (row->place[0])
        json_member_string(out, "place", row->place);
    append_weights(report->profile, row->self, row->total, out);
    json_close(out, '}');
}

static void append_functions(const struct report *report, struct buffer *out)
{
    json_key(out, "functions");
    json_open(out, '[');
    for (size_t i = 0; i < report->function_count; i++)
        append_function(report, &report->functions[i], out);
    json_close(out, ']');
    append_nodes(report, out);
}

static void append_rows(const struct report *report, const struct report_rows *rows,
                        struct buffer *out)
{
    static const char *const keys[] = {"functions", "lines", "modules", "processes", "threads"};
    json_key(out, keys[rows->by]);
    json_open(out, '[');
    for (size_t i = 0; i < rows->count; i++)
        append_row(report, &rows->items[i], out);
    json_close(out, ']');
}

void report_json(const struct report *report, const struct report_rows *rows,
                 const struct inputs *inputs, struct buffer *out)
{
    const struct profile *profile = report->profile;
    json_report_open(out, inputs->paths[0]);
    append_files(inputs, out);
    json_member_string(out, "program", profile_text(profile, profile->product));
    json_member_unsigned(out, "samples", samples_count_measured(profile));
    if (profile->event_count)
        json_member_string(out, "event", profile_text(profile, profile_main_event(profile).name));
    json_member_unsigned(out, weight_key(profile, "total_ns", "total"), report->total);
    if (rows)
        append_rows(report, rows, out);
    else
        append_functions(report, out);
    json_report_close(out);
}
