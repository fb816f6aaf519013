/* SPDX-License-Identifier: MIT */
#include "export/firefox/interval_rows.h"

#include <assert.h>

enum { JUST_BEFORE_NS = 1000 }; /* the resolution of times in the file */

static void push(struct interval_rows *rows, struct interval_row row)
{
    assert(rows->count < sizeof(rows->queue) / sizeof(rows->queue[0]));
    if (row.time_ns < rows->last.time_ns)
        row.time_ns = rows->last.time_ns;
    bool is_in_interval = rows->last.has_stack;
    row.has_cpu_delta = !is_in_interval || rows->open.is_cpu;
    row.cpu_delta_ns = is_in_interval && rows->open.is_cpu ? row.time_ns - rows->last.time_ns : 0;
    rows->queue[rows->count++] = row;
    rows->last = row;
}

/* The end of the open interval is a change of the stack. */
static void close_open(struct interval_rows *rows, uint64_t end_ns, bool is_followed)
{
    if (end_ns > rows->last.time_ns + 2 * JUST_BEFORE_NS)
        push(rows, (struct interval_row){.time_ns = end_ns - JUST_BEFORE_NS,
                                         .call = rows->open.call,
                                         .has_stack = true});
    if (!is_followed)
        push(rows, (struct interval_row){.time_ns = end_ns});
    rows->is_open = false;
}

static bool is_followed_by(const struct interval *open, const struct interval *next)
{
    uint64_t gap_ns = next->start_ns > open->end_ns ? next->start_ns - open->end_ns : 0;
    return gap_ns == 0 || (open->is_cpu && gap_ns <= open->end_ns - open->start_ns);
}

static struct interval_row row_of(const struct interval *interval)
{
    return (struct interval_row){.time_ns = interval->start_ns,
                                 .weight = interval->weight,
                                 .call = interval->call,
                                 .has_stack = true};
}

/* Within the open interval, which goes on. */
static void add_nested(struct interval_rows *rows, const struct interval *interval)
{
    close_open(rows, interval->start_ns, true);
    push(rows, row_of(interval));
    push(rows, (struct interval_row){
                   .time_ns = interval->end_ns, .call = rows->open.call, .has_stack = true});
    rows->is_open = true;
}

void interval_rows_add(struct interval_rows *rows, const struct interval *interval)
{
    rows->first = rows->count = 0;
    bool may_nest = interval->is_sum || interval->is_cpu;
    if (rows->is_open && may_nest && interval->end_ns < rows->open.end_ns &&
        interval->call != rows->open.call) {
        add_nested(rows, interval);
        return;
    }
    if (rows->is_open) {
        bool is_followed = is_followed_by(&rows->open, interval);
        uint64_t end_ns = is_followed ? interval->start_ns : rows->open.end_ns;
        bool is_continued = is_followed && interval->call == rows->open.call;
        if (!is_continued)
            close_open(rows, end_ns, is_followed);
    }
    push(rows, row_of(interval));
    rows->open = *interval;
    rows->is_open = true;
}

void interval_rows_finish(struct interval_rows *rows)
{
    rows->first = rows->count = 0;
    if (rows->is_open)
        close_open(rows, rows->open.end_ns, false);
}

bool interval_rows_next(struct interval_rows *rows, struct interval_row *row)
{
    if (rows->first == rows->count)
        return false;
    *row = rows->queue[rows->first++];
    return true;
}
