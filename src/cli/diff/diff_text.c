/* SPDX-License-Identifier: MIT */
#include "cli/diff/diff_text.h"

#include "base/text/log.h"
#include "cli/terminal/ellipsize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_SHOWN = 20, MODULE_COLUMNS = 18, TABLE_COLUMNS = 84, NAME_LEAST = 20 };

struct unit {
    double scale;
    const char *name;
    char heading[64];
};

static struct unit unit_of(const struct diff_view *view)
{
    if (view->request->settings.by_share)
        return (struct unit){100, "%", "share of the run's total, in %"};
    struct unit unit = {1, "", "count for each run"};
    if (view->time) {
        unit = (struct unit){.scale = 1e-6, .name = "ms"};
        snprintf(unit.heading, sizeof(unit.heading), "%s for each run, in ms", view->time);
    }
    return unit;
}

const char *diff_verdict_name(enum compare_verdict verdict)
{
    static const char *const names[] = {
        [COMPARE_SMALL] = "small",         [COMPARE_NOISE] = "noise",
        [COMPARE_SINGLE] = "one run each", [COMPARE_GROWN] = "grown",
        [COMPARE_SHRUNK] = "shrunk",       [COMPARE_ADDED] = "new",
        [COMPARE_REMOVED] = "removed",
    };
    return names[verdict];
}

static void print_header(const struct diff_view *view)
{
    static const char *const what[] = {"functions by self time", "functions by total time",
                                       "source lines"};
    const struct comparison *comparison = view->comparison;
    for (int side = 0; side < COMPARE_SIDES; side++) {
        size_t runs = comparison->runs_of[side];
        text_print(stdout, "%s %s: %zu %s\n", side == COMPARE_BASE ? "base" : "new ",
                   inputs_label(&view->request->sides[side]).text, runs,
                   runs == 1 ? "run" : "runs");
    }
    text_print(stdout, "%s, event %s; %s\n", what[view->request->settings.what], view->event,
               unit_of(view).heading);
    printf("\n    before       after  difference    95 %% interval          verdict       "
           "module              %s\n",
           view->request->settings.what == COMPARE_LINES ? "line" : "function");
}

static void print_values(const struct compare_row *row, struct unit unit, const char *verdict)
{
    char interval[64];
    snprintf(interval, sizeof(interval), "%+.1f … %+.1f", row->low * unit.scale,
             row->high * unit.scale);
    /* "…" is three bytes wide in the count of printf(). */
    printf("%10.1f  %10.1f  %+10.1f    %-22s  %-12s  ", row->mean[COMPARE_BASE] * unit.scale,
           row->mean[COMPARE_NEW] * unit.scale, row->difference * unit.scale, interval, verdict);
}

/* "half", or "work.c:12 half". */
static void spell_name(const struct diff_view *view, const struct compare_row *row, char *out,
                       size_t size)
{
    const struct comparison *comparison = view->comparison;
    const char *file = comparison_text(comparison, row->file);
    const char *name = comparison_text(comparison, row->name);
    if (file[0])
        snprintf(out, size, "%s:%u %s", file, row->line, name);
    else
        snprintf(out, size, "%s", name);
}

static void print_row(const struct diff_view *view, const struct compare_row *row, unsigned columns)
{
    char name[2048], fitted[2048], module[256];
    unsigned used = TABLE_COLUMNS + MODULE_COLUMNS + 2;
    print_values(row, unit_of(view), diff_verdict_name(row->verdict));
    ellipsize_name(module, sizeof(module), comparison_text(view->comparison, row->module),
                   MODULE_COLUMNS);
    spell_name(view, row, name, sizeof(name));
    ellipsize_name(fitted, sizeof(fitted), name,
                   columns > used + NAME_LEAST ? columns - used : NAME_LEAST);
    printf("%-*s  %s\n", MODULE_COLUMNS, module, fitted);
}

/* Changes, then the tested rows with the largest differences. */
static size_t print_rows(const struct diff_view *view, unsigned columns)
{
    const struct comparison *comparison = view->comparison;
    size_t changes = 0;
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct compare_row *row = &comparison->rows[i];
        changes += compare_is_change(row);
        if (row->verdict == COMPARE_SMALL || (i >= ROWS_SHOWN && !compare_is_change(row)))
            break;
        print_row(view, row, columns);
    }
    return changes;
}

static double percent_of(const struct compare_row *row)
{
    return 100 * row->difference / row->mean[COMPARE_BASE];
}

/* By the rows' order the first growth is the largest. */
static const struct compare_row *largest(const struct comparison *comparison,
                                         bool (*is_wanted)(const struct compare_row *row))
{
    for (size_t i = 0; i < comparison->row_count; i++)
        if (is_wanted(&comparison->rows[i]))
            return &comparison->rows[i];
    return is_wanted(&comparison->total) ? &comparison->total : NULL;
}

static bool is_growth(const struct compare_row *row)
{
    return compare_is_growth(row);
}

static bool is_larger(const struct compare_row *row)
{
    return row->verdict == COMPARE_SINGLE && row->difference > 0;
}

static void print_growth(const struct diff_view *view, const struct compare_row *row,
                         const char *what, const char *note)
{
    char name[2048], share[32];
    struct unit unit = unit_of(view);
    if (row == &view->comparison->total)
        snprintf(name, sizeof(name), "all functions together");
    else
        spell_name(view, row, name, sizeof(name));
    if (row->mean[COMPARE_BASE] > 0)
        snprintf(share, sizeof(share), "%+.1f %%", percent_of(row));
    else
        snprintf(share, sizeof(share), "new");
    const char *module =
        row == &view->comparison->total ? "" : comparison_text(view->comparison, row->module);
    text_print(stdout, "rec diff: %s: %+.1f%s%s per run (%s) in %s%s%s%s\n", what,
               row->difference * unit.scale, unit.name[0] ? " " : "", unit.name, share, name,
               module[0] ? " of " : "", module, note);
}

static void print_last_line(const struct diff_view *view)
{
    const struct compare_row *growth = largest(view->comparison, is_growth);
    const struct compare_row *single = largest(view->comparison, is_larger);
    if (growth)
        print_growth(view, growth, "largest growth", "");
    else if (single)
        print_growth(view, single, "largest difference", "; one run each: no verdict");
    else
        printf("rec diff: no growth beyond the threshold and the variation of the runs\n");
}

void diff_print(const struct diff_view *view, unsigned columns)
{
    const struct comparison *comparison = view->comparison;
    struct unit unit = unit_of(view);
    print_header(view);
    size_t changes = print_rows(view, columns);
    print_values(&comparison->total, unit, diff_verdict_name(comparison->total.verdict));
    printf("%-*s  total\n\n", MODULE_COLUMNS, "");
    printf("%zu of %zu tested %s changed by at least %.1f%s%s\n", changes, comparison->tested,
           view->request->settings.what == COMPARE_LINES ? "lines" : "functions",
           comparison->threshold * unit.scale, unit.name[0] ? " " : "", unit.name);
    print_last_line(view);
}
