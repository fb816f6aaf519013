/* SPDX-License-Identifier: MIT */
/* The options that cut a capture to some of its samples; the same for every command that shows one. */
#pragma once

#include "cli/options.h"
#include "convert/cut.h"

enum { CUT_PID = 0x1000, CUT_TID, CUT_COMM, CUT_TIME, CUT_EVENT, CUT_CPU };

/* Entries for a command's table. */
#define CUT_OPTION_SPECS                                                                      \
    {CUT_PID, 0, "pid", OPTION_VALUE, NULL}, {CUT_TID, 0, "tid", OPTION_VALUE, NULL},         \
        {CUT_COMM, 0, "comm", OPTION_VALUE, NULL}, {CUT_TIME, 0, "time", OPTION_VALUE, NULL}, \
        {CUT_EVENT, 0, "event", OPTION_VALUE, NULL},                                          \
    {                                                                                         \
        CUT_CPU, 0, "cpu", OPTION_VALUE, NULL                                                 \
    }

/* Lines of help. */
#define CUT_OPTION_HELP                                                                    \
    "  --pid, --tid LIST     only samples of these processes, threads: 7 or 0,2-5\n"       \
    "  --comm NAMES          only of threads with these names, commas between\n"           \
    "  --cpu LIST            only those taken on these CPUs, where that was recorded\n"    \
    "  --time START,END      seconds of the capture's clock, as in perf script; 10%-20%\n" \
    "  --event NAME          only samples of this event\n"

/* Whether id is one of them; if so *err is the result: 0, or -EINVAL and a sentence. */
bool cut_option(struct cut *cut, int id, const char *value, int *err, struct error *error);
