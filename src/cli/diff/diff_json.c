/* SPDX-License-Identifier: MIT */
#include "cli/diff/diff_text.h"

#include "cli/report/json_report.h"
#include "export/encoding/json.h"

#include <stdio.h>

static void member_number(struct buffer *out, const char *key, double value)
{
    char text[40];
    int length = snprintf(text, sizeof(text), "%.10g", value);
    json_key(out, key);
    json_spelled(out, text, (size_t)length);
}

static void append_row(const struct compare_row *row, struct buffer *out)
{
    member_number(out, "before", row->mean[COMPARE_BASE]);
    member_number(out, "after", row->mean[COMPARE_NEW]);
    member_number(out, "difference", row->difference);
    if (row->verdict != COMPARE_SMALL) {
        member_number(out, "low", row->low);
        member_number(out, "high", row->high);
        if (row->verdict != COMPARE_SINGLE)
            member_number(out, "p", row->p);
    }
    json_member_string(out, "verdict", diff_verdict_name(row->verdict));
}

static void append_function(const struct diff_view *view, const struct compare_row *row,
                            struct buffer *out)
{
    const struct comparison *comparison = view->comparison;
    const char *module = comparison_text(comparison, row->module);
    const char *file = comparison_text(comparison, row->file);
    json_open(out, '{');
    json_member_string(out, "name", comparison_text(comparison, row->name));
    if (module[0])
        json_member_string(out, "module", module);
    if (file[0]) {
        json_member_string(out, "file", file);
        json_member_unsigned(out, "line", row->line);
    }
    append_row(row, out);
    json_close(out, '}');
}

static void append_side(const struct diff_view *view, enum compare_side side, struct buffer *out)
{
    const struct inputs *inputs = &view->request->sides[side];
    json_key(out, side == COMPARE_BASE ? "base" : "new");
    json_open(out, '[');
    for (size_t i = 0; i < inputs->count; i++)
        json_string(out, inputs->paths[i]);
    json_close(out, ']');
}

void diff_json(const struct diff_view *view, struct buffer *out)
{
    static const char *const what[] = {"self", "total", "lines"};
    const struct comparison *comparison = view->comparison;
    bool by_share = view->request->settings.by_share;
    json_report_open(out, NULL);
    append_side(view, COMPARE_BASE, out);
    append_side(view, COMPARE_NEW, out);
    json_member_string(out, "event", view->event);
    json_member_string(out, "unit", by_share ? "share" : view->time ? "ns" : "count");
    json_member_string(out, "of", what[view->request->settings.what]);
    member_number(out, "threshold", comparison->threshold);
    json_member_unsigned(out, "tested", comparison->tested);
    json_member_bool(out, "fails", view->fails);
    json_key(out, "total");
    json_open(out, '{');
    append_row(&comparison->total, out);
    json_close(out, '}');
    json_key(out, view->request->settings.what == COMPARE_LINES ? "lines" : "functions");
    json_open(out, '[');
    for (size_t i = 0; i < comparison->row_count; i++)
        append_function(view, &comparison->rows[i], out);
    json_close(out, ']');
    json_report_close(out);
}
