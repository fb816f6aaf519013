/* SPDX-License-Identifier: MIT */
/* The options that select samples of a capture; the same for every command that shows one. */
#pragma once

#include "cli/options/options.h"
#include "convert/filter.h"

enum { FILTER_PID = 0x1000, FILTER_TID, FILTER_COMM, FILTER_TIME, FILTER_EVENT, FILTER_CPU };

/* Entries for a command's table. */
#define FILTER_OPTION_SPECS                                                                 \
    {FILTER_PID, 0, "pid", OPTION_VALUE, NULL}, {FILTER_TID, 0, "tid", OPTION_VALUE, NULL}, \
        {FILTER_COMM, 0, "comm", OPTION_VALUE, NULL},                                       \
        {FILTER_TIME, 0, "time", OPTION_VALUE, NULL},                                       \
        {FILTER_EVENT, 0, "event", OPTION_VALUE, NULL},                                     \
    {                                                                                       \
        FILTER_CPU, 0, "cpu", OPTION_VALUE, NULL                                            \
    }

/* Lines of help. */
#define FILTER_OPTION_HELP                                                                 \
    "  --pid, --tid LIST     only samples of these processes, threads: 7 or 0,2-5\n"       \
    "  --comm NAMES          only of threads with these names, commas between\n"           \
    "  --cpu LIST            only those taken on these CPUs, where that was recorded\n"    \
    "  --time START,END      seconds of the capture's clock, as in perf script; 10%-20%\n" \
    "  --event NAME          only samples of this event\n"

/* Whether id is one of them; if so *err is the result: 0, or -EINVAL and a sentence. */
bool filter_option(struct filter *filter, int id, const char *value, int *err, struct error *error);
