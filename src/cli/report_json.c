/* SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include "cli/taken.h"
#include "export/json.h"

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
    json_member_unsigned(out, "self_ns", function->self_ns);
    json_member_unsigned(out, "total_ns", function->total_ns);
    json_close(out, '}');
}

/* Nodes as a list, each after its caller; `caller` is an index into the list, -1 for a thread's
 * root. Nothing nests: a deep recursion would exceed what JSON readers accept. */
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
        json_member_unsigned(out, "self_ns", node->self_ns);
        json_member_unsigned(out, "total_ns", node->total_ns);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void report_json(const struct report *report, const char *path, struct buffer *out)
{
    const struct profile *profile = report->profile;
    json_open(out, '{');
    json_member_unsigned(out, "version", 1);
    json_member_string(out, "file", path);
    json_member_string(out, "program", profile_text(profile, profile->product));
    json_member_unsigned(out, "samples", taken_count(profile));
    json_member_unsigned(out, "total_ns", report->total_ns);
    json_key(out, "functions");
    json_open(out, '[');
    for (size_t i = 0; i < report->function_count; i++)
        append_function(report, &report->functions[i], out);
    json_close(out, ']');
    append_nodes(report, out);
    json_close(out, '}');
    buffer_text(out, "\n");
}
