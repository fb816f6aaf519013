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

enum { NAME_COLUMNS = 120 };

/* In a table, within backticks: a bar ends a cell, a backtick the code. */
static void print_code(const char *text)
{
    char clean[1024];
    ellipsize_name(clean, sizeof(clean), text, NAME_COLUMNS);
    if (!clean[0]) {
        printf(" |");
        return;
    }
    printf(" `");
    for (const char *at = clean; *at; at++) {
        if (*at == '|')
            printf("\\|");
        else
            putchar(*at == '`' ? '\'' : *at);
    }
    printf("` |");
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
            print_code(row->module);
            print_code(row->place);
        }
        print_code(row->name);
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
    text_print(stdout, "%s: %s, %s %s\n", inputs_label(inputs).text,
               format_number_of(samples_count_measured(profile), "sample").text,
               weight_format(profile, report->total).text, weight_noun(profile));
    if (rows) {
        printf("\n");
        print_rows(rows);
    }
    if (style->has_tree)
        print_tree(report, style);
}
