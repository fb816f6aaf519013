/* SPDX-License-Identifier: MIT */
/*
 * Rows of a time line from weighted samples. Arithmetic only: no profile, no file.
 *
 * The Firefox Profiler counts rows where threads are merged, and draws the CPU time of a row over
 * the time since the previous row. A sample of several periods therefore becomes one row for each
 * period, spread back over the time of the sample:
 *
 *     previous row                      sample of 4 periods
 *          |                   |    |    |    |
 *          '---- asleep -------'--- running --'
 *
 * Invariants: the rows of a sample weigh as much as the sample; every sample has a row, so every
 * stack is shown; no row precedes the previous row. The difference between weight and rows, at most
 * half a period, is carried to the next sample. A sample below a period has a row of its own, at no
 * cost to later samples.
 */
#pragma once

#include <stdint.h>

struct period_rows {  /* of a thread */
    int64_t period;   /* of a row, in the unit of weights and times; 0: a row per sample */
    int64_t carried;  /* weight without a row; negative: rows without weight */
    uint64_t last_ns; /* time of the previous row */
};

struct row_run { /* the rows of a sample */
    uint64_t count;
    uint64_t weight; /* of all rows */
    uint64_t end_ns; /* time of the last row */
    uint64_t step_ns;
};

/* No row precedes start_ns. */
struct period_rows period_rows_start(uint64_t period, uint64_t start_ns);

/* The rows of the next sample. A sample older than the previous row gets the previous row's
 * time. */
struct row_run period_rows_add(struct period_rows *rows, uint64_t time_ns, uint64_t weight);

/* row < run->count */
uint64_t row_run_time(const struct row_run *run, uint64_t row);
/* Weight of the rows [first, end). */
uint64_t row_run_weight(const struct row_run *run, uint64_t first, uint64_t end);
