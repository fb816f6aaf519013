/* SPDX-License-Identifier: MIT */
#include "cli/report/report.h"

#include "base/containers/buffer.h"
#include "base/text/log.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/ellipsize.h"
#include "cli/terminal/format.h"
#include "cli/terminal/weight.h"
#include "profile/synthetic.h"

#include <stdio.h>

enum { CELL_COLUMNS = 120, LINE_COLUMNS = 500 };

/* Names are foreign: markup has no effect in code, and a backtick would end the code. In a table, a
 * bar ends the cell. Parsers differ in which backslashes before a bar are escapes; an odd number
 * works in all. */
static void print_code(const char *text, bool in_table)
{
    char clean[1024];
    bool is_odd = false;
    ellipsize_name(clean, sizeof(clean), text, in_table ? CELL_COLUMNS : LINE_COLUMNS);
    putchar('`');
    for (const char *at = clean; *at; at++) {
        if (*at == '|' && in_table)
            printf(is_odd ? "\\\\|" : "\\|");
        else
            putchar(*at == '`' ? '\'' : *at);
        is_odd = *at == '\\' && !is_odd;
    }
    putchar('`');
}

static void print_cell(const char *text)
{
    putchar(' ');
    if (text[0]) {
        print_code(text, true);
        putchar(' ');
    }
    putchar('|');
}

static void print_rows(const struct report_rows *rows)
{
    bool is_code = rows->by == REPORT_FUNCTIONS || rows->by == REPORT_LINES;
    bool has_self = report_rows_have_self(rows->by);
    printf("%s| total |%s %s |\n", has_self ? "| self " : "", is_code ? " module | place |" : "",
           report_rows_noun(rows->by));
    printf("%s|---:|%s---|\n", has_self ? "|---:" : "", is_code ? "---|---|" : "");
    for (size_t i = 0; i < rows->count; i++) {
        const struct report_row *row = &rows->items[i];
        if (has_self)
            printf("| %s ", format_percent(row->self, rows->whole).text);
        printf("| %s |", format_percent(row->total, rows->whole).text);
        if (is_code) {
            print_cell(row->module);
            print_cell(row->place);
        }
        print_cell(row->name);
        printf("\n");
    }
}

static void print_tree(const struct report *report, const struct report_style *style)
{
    struct buffer text = {0};
    double percent = report_tree_write(report, style, &text);
    printf("\n");
    text_print(stdout, "%s:\n", report_tree_title(style, percent).text);
    printf("\n```text\n");
    fwrite(text.bytes, 1, text.size, stdout);
    printf("```\n");
    buffer_free(&text);
}

void report_print_markdown(const struct report *report, const struct report_rows *rows,
                           const struct inputs *inputs, const struct report_style *style)
{
    const struct profile *profile = report->profile;
    print_code(inputs_label(inputs).text, false);
    printf(": %s, %s ", format_number_of(samples_count_measured(profile), "sample").text,
           weight_format(profile, report->total).text);
    if (weight_time_name(profile))
        printf("%s", weight_noun(profile));
    else
        print_code(weight_noun(profile), false);
    putchar('\n');
    if (rows) {
        printf("\n");
        print_rows(rows);
    }
    if (style->has_tree)
        print_tree(report, style);
}
