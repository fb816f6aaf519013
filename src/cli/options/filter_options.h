/* SPDX-License-Identifier: MIT */
/* Options for a selection of samples, shared by all commands with a capture as input. */
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
#define FILTER_OPTION_HELP                                                                    \
    "  --pid, --tid LIST     samples of these processes, threads: 7 or 0,2-5\n"               \
    "  --comm NAMES          samples of threads with these names, separated by commas\n"      \
    "  --cpu LIST            samples on these CPUs, if the capture has CPU numbers\n"         \
    "  --time START,END      seconds of the capture's clock, as in perf script; or 10%-20%\n" \
    "  --event NAME          samples of this event\n"

/* Whether id is a filter option; if so, *err is 0, or -EINVAL with a message. */
bool filter_option(struct filter *filter, int id, const char *value, int *err, struct error *error);
