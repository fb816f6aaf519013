/* SPDX-License-Identifier: MIT */
/* The command line of `rec report` and `rec info`. */
#pragma once

#include "base/text/error.h"
#include "cli/files/input_command.h"
#include "cli/report/report_rows.h"

#include <stdbool.h>
#include <stddef.h>

struct view_request {
    struct input_request input;
    bool json;
    bool lifecycle;          /* of threads, instead of functions and calls */
    bool off_cpu;            /* waits by reason and stack, instead */
    bool stuck;              /* threads with long waits, instead */
    bool with_idle;          /* --idle */
    uint64_t stuck_after_ns; /* 0: the default */
    bool markdown;
    bool short_names; /* without template arguments and parameters */
    enum report_by by;
    bool has_by;        /* --by or --lines */
    const char *around; /* --callers or --callees; NULL: none */
    bool is_upwards;
    bool has_limit;
    double least_percent;
};

/* apply() and check() of both commands; the request is a struct view_request. */
int view_option(struct input_request *input, int id, const char *value, struct error *error);
int view_check(struct input_request *input, struct error *error);

/* "3 min old", by the modification time of the file; "" on errors. */
struct view_age {
    char text[32];
};
struct view_age view_age(const char *path);

/* The text up to the size of line, with blanks for line ends and tabs. */
void view_one_line(char *line, size_t size, const char *text);
