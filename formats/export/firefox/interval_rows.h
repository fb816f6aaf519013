/* SPDX-License-Identifier: MIT */
/*
 * Rows of a time line from intervals with a stack each, in the order of their starts. Arithmetic
 * only: no profile, no file.
 *
 * The front-end's stack chart draws a row until the next row. The graph draws the category of a row
 * half of the way to the row before and to the row behind, at the height of the CPU time between
 * the rows, in per cent; at full height where the CPU time is unknown. An interval is therefore a
 * row with its weight at the start, a row of weight 0 just before the end, unless the next interval
 * continues it, and a row without a stack at the end, unless another interval follows at once:
 *
 *     |--- waits ------------|         |-- runnable --|-- waits …
 *     row                 row row      row         row row
 *     weight              0   no stack weight      0   weight
 *
 * A sum within the open interval, with a date of its own, is drawn there; then the open one goes
 * on. A share of a sum may be longer than its wait; the next wait ends the share.
 *
 * Invariants: the weights of the rows add up to those of the intervals; times do not decrease.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct interval {
    uint64_t start_ns, end_ns;
    uint64_t weight;
    uint32_t call;
    bool is_sum; /* may lie within an interval; others end the interval that is open */
    /* CPU time. Lasts until the next interval, if the gap is not longer than the interval. */
    bool is_cpu;
};

struct interval_row {
    uint64_t time_ns, weight;
    uint32_t call;
    bool has_stack;
    bool has_cpu_delta; /* false: since the row before, the thread waits */
    uint64_t cpu_delta_ns;
};

struct interval_rows { /* of a thread; zero at the start */
    struct interval open;
    bool is_open;
    struct interval_row last; /* made last; time_ns 0: none */
    struct interval_row queue[3];
    uint32_t first, count; /* of the queue */
};

/* Call when interval_rows_next() is at its end. */
void interval_rows_add(struct interval_rows *rows, const struct interval *interval);
/* Behind the last interval. */
void interval_rows_finish(struct interval_rows *rows);
/* False: all rows so far were taken. */
bool interval_rows_next(struct interval_rows *rows, struct interval_row *row);
