/* SPDX-License-Identifier: MIT */
#include "cli/report/report.h"

#include "base/text/log.h"
#include "cli/options/view_options.h"
#include "cli/report/command_text.h"
#include "cli/report/report_rows.h"
#include "profile/synthetic.h"
#include "cli/terminal/columns.h"
#include "cli/terminal/ellipsize.h"
#include "cli/terminal/format.h"
#include "cli/terminal/pager.h"
#include "cli/terminal/weight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    EVENTS_SHOWN = 6,
    MODULE_COLUMNS = 18,
    PLACE_COLUMNS = 24,
};

static void print_heading(const char *text)
{
    const char *no_color = getenv("NO_COLOR");
    bool is_bold = pager_is_terminal() && !(no_color && *no_color);
    printf("\n%s%s%s\n", is_bold ? "\033[1m" : "", text, is_bold ? "\033[m" : "");
}

static uint64_t note_number(const struct profile *profile, const char *key)
{
    const char *value = profile_note(profile, key);
    return value ? strtoull(value, NULL, 10) : 0;
}

/* From the summary in the capture, if present: samples of CPU time or of -e, of all threads. */
static void print_completeness(const struct profile *profile)
{
    struct profile_event event = profile_main_event(profile);
    if (event.is_off_cpu || event.is_wall)
        return;
    uint64_t samples = note_number(profile, "samples");
    const char *engine = profile_note(profile, "engine");
    if (engine && samples)
        text_print(stdout, ", %s complete stacks (%s)",
                   format_percent(note_number(profile, "complete"), samples).text, engine);
}

/* A report covers a single event. */
static void print_other_events(const struct profile *profile)
{
    const char *separator = "Other events, for --event:";
    size_t left = profile->event_count ? profile->event_count - 1 : 0;
    for (uint32_t i = 0, shown = 0; i < profile->event_count && shown < EVENTS_SHOWN; i++) {
        if (i == profile->main_event)
            continue;
        text_print(stdout, "%s %s", separator, profile_text(profile, profile->events[i].name));
        separator = ",";
        shown++;
        left--;
    }
    if (left > 0)
        printf(", and %zu more: `rec info` has all", left);
    if (profile->event_count > 1)
        printf("\n");
}

static size_t threads_with_samples(const struct profile *profile)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->thread_count; i++)
        count += profile->threads[i].first_list != 0;
    return count;
}

static void print_header(const struct report *report, const struct inputs *inputs, bool is_part)
{
    const struct profile *profile = report->profile;
    char name[4096];
    printf("%s, %s: ", text_escape(name, sizeof(name), inputs_label(inputs).text),
           view_age(inputs_newest(inputs)).text);
    command_text_print(profile);
    text_print(stdout, "%s, %s %s",
               format_number_of(samples_count_measured(profile), "sample").text,
               weight_format(profile, report->total).text, weight_noun(profile));
    if (profile->recorded_ns) /* 0: no samples */
        printf(" in %s", format_duration(profile->recorded_ns).text);
    size_t threads = is_part ? threads_with_samples(profile) : profile->thread_count;
    printf(", %zu %s", threads, threads == 1 ? "thread" : "threads");
    if (!is_part)
        print_completeness(profile);
    printf("\n");
    print_other_events(profile);
    const char *damage = profile_note(profile, "damage");
    if (damage)
        text_print(stdout, "The file is damaged: %s\n", damage);
}

static void print_code_row(const struct report_row *row, unsigned columns)
{
    unsigned used = 18 + MODULE_COLUMNS + 2 + PLACE_COLUMNS + 2;
    char name[2048];
    ellipsize_name(name, sizeof(name), row->name, columns > used + 20 ? columns - used : 20);
    columns_print(row->module, MODULE_COLUMNS);
    columns_print(row->place, PLACE_COLUMNS);
    printf("%s\n", name);
}

static void print_rows(const struct report_rows *rows, unsigned columns)
{
    bool is_code = rows->by == REPORT_FUNCTIONS || rows->by == REPORT_LINES;
    bool has_self = report_rows_have_self(rows->by);
    char heading[160];
    snprintf(heading, sizeof(heading), "%s  total  %s%s", has_self ? "   self  " : "",
             is_code ? "module              place                     " : "",
             report_rows_noun(rows->by));
    print_heading(heading);
    for (size_t i = 0; i < rows->count; i++) {
        const struct report_row *row = &rows->items[i];
        if (has_self)
            printf("%7s  ", format_percent(row->self, rows->whole).text);
        printf("%7s  ", format_percent(row->total, rows->whole).text);
        if (is_code)
            print_code_row(row, columns);
        else
            text_print(stdout, "%s\n", row->name);
    }
}

enum { AROUND_COLUMNS = 120 };

struct report_title report_tree_title(const struct report_style *style, double percent)
{
    struct report_title title;
    char around[4 * AROUND_COLUMNS + 1];
    if (style->around)
        snprintf(title.text, sizeof(title.text), "%s %s, with at least %g %%",
                 style->is_upwards ? "callers of" : "calls below",
                 ellipsize_name(around, sizeof(around), style->around, AROUND_COLUMNS), percent);
    else
        snprintf(title.text, sizeof(title.text), "calls with at least %g %%", percent);
    return title;
}

static void print_tree(const struct report *report, const struct report_style *style)
{
    struct buffer text = {0};
    char heading[700];
    double percent = report_tree_write(report, style, &text);
    snprintf(heading, sizeof(heading), "  total  %s", report_tree_title(style, percent).text);
    print_heading(heading);
    fwrite(text.bytes, 1, text.size, stdout);
    buffer_free(&text);
}

void report_print(const struct report *report, const struct report_rows *rows,
                  const struct inputs *inputs, const struct report_style *style)
{
    print_header(report, inputs, style->is_part);
    if (report->total == 0) {
        printf(style->is_part ? "No samples in the selected part.\n"
                              : "No samples: rec records CPU time, and waiting with --off-cpu.\n");
        return;
    }
    if (rows)
        print_rows(rows, style->columns);
    if (style->has_tree)
        print_tree(report, style);
}
