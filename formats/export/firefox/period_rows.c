/* SPDX-License-Identifier: MIT */
#include "export/firefox/period_rows.h"

/* Sums of two periods stay below INT64_MAX. */
#define PERIOD_MAX ((uint64_t)INT64_MAX / 4)

struct period_rows period_rows_start(uint64_t period, uint64_t start_ns)
{
    return (struct period_rows){.period = (int64_t)(period < PERIOD_MAX ? period : PERIOD_MAX),
                                .last_ns = start_ns};
}

/* Whole periods in the weight and the carried difference, rounded; at least 1. */
static uint64_t count_rows(struct period_rows *rows, uint64_t weight)
{
    int64_t period = rows->period;
    uint64_t count = weight / (uint64_t)period;
    int64_t rest = (int64_t)(weight % (uint64_t)period) + rows->carried;
    if (rest >= period - period / 2) {
        count++;
        rest -= period;
    }
    if (count == 0) /* the row takes the carried weight, and no row of a later sample */
        rest = rest < 0 ? rest : 0;
    rows->carried = rest;
    return count ? count : 1;
}

struct row_run period_rows_add(struct period_rows *rows, uint64_t time_ns, uint64_t weight)
{
    struct row_run run = {.count = 1, .weight = weight, .end_ns = time_ns};
    if (time_ns < rows->last_ns)
        run.end_ns = rows->last_ns;
    if (rows->period > 0 && (weight != (uint64_t)rows->period || rows->carried != 0))
        run.count = count_rows(rows, weight);
    uint64_t gap_ns = run.end_ns - rows->last_ns;
    run.step_ns = run.count > 1 ? (gap_ns < weight ? gap_ns : weight) / run.count : 0;
    rows->last_ns = run.end_ns;
    return run;
}

uint64_t row_run_time(const struct row_run *run, uint64_t row)
{
    return run->end_ns - (run->count - 1 - row) * run->step_ns;
}

/* Equal rows; the last row also has the remainder of the division. */
uint64_t row_run_weight(const struct row_run *run, uint64_t first, uint64_t end)
{
    if (run->count == 1)
        return first < end ? run->weight : 0; /* most rows: two divisions less */
    uint64_t remainder = end == run->count ? run->weight % run->count : 0;
    return (end - first) * (run->weight / run->count) + remainder;
}
