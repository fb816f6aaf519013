/* SPDX-License-Identifier: MIT */
/* Options for a selection of samples, shared by all commands with a capture as input. */
#pragma once

#include "cli/options/options.h"

enum {
    FILTER_PID = 0x1000,
    FILTER_TID,
    FILTER_COMM,
    FILTER_TIME,
    FILTER_EVENT,
    FILTER_CPU,
    FILTER_METRIC,
};

#define FILTER_OPTION_SPECS                                                                       \
    OPTION_HEADING("Part of the capture"),                                                        \
        OPTION_TAKING(FILTER_PID, 0, "pid", "LIST", "Samples of these processes: 7 or 0,2-5."),   \
        OPTION_TAKING(FILTER_TID, 0, "tid", "LIST", "Samples of these threads."),                 \
        OPTION_TAKING(FILTER_COMM, 0, "comm", "NAMES",                                            \
                      "Samples of threads with these names, separated by commas."),               \
        OPTION_TAKING(FILTER_CPU, 0, "cpu", "LIST",                                               \
                      "Samples on these CPUs, if the capture has CPU numbers."),                  \
        OPTION_TAKING(FILTER_TIME, 0, "time", "START,END",                                        \
                      "Samples of this time, in seconds as printed by perf script, or 10%-20%."), \
        OPTION_TAKING(FILTER_EVENT, 0, "event", "NAME", "Samples of this event."),                \
        OPTION_TAKING(FILTER_METRIC, 0, "metric", "cpu|off-cpu|wall",                             \
                      "Time shown where an output has a single one: on a processor, waiting for " \
                      "anything, or both together.")
