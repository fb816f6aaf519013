/* SPDX-License-Identifier: MIT */
/* The rows of a report: functions, source lines, modules, processes or threads, by decreasing self
 * time. */
#pragma once

#include "cli/report/report.h"

enum report_by { REPORT_FUNCTIONS, REPORT_LINES, REPORT_MODULES, REPORT_PROCESSES, REPORT_THREADS };

struct report_row {
    uint64_t self, total;
    char *module, *place, *name; /* owned; "": unknown */
};

struct report_rows {
    enum report_by by;
    uint64_t whole;
    struct report_row *items;
    size_t count, capacity;
};

struct report_rows_limit {
    double least_percent; /* of self time */
    size_t most;
    bool with_callers; /* rows without self time, too */
};

/* 0 or -ENOMEM. */
int report_rows_build(struct report_rows *rows, const struct report *report, enum report_by by,
                      const struct report_rows_limit *limit);
void report_rows_free(struct report_rows *rows);

/* "function", "line", …: the heading of names. */
const char *report_rows_noun(enum report_by by);

/* Threads and processes have one time. */
bool report_rows_have_self(enum report_by by);
