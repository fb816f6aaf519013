/* SPDX-License-Identifier: MIT */
/* The summary at the end of a recording: at most six lines, diagnostics included. */
#pragma once

#include "cli/files/outputs.h"
#include "cli/summary/kernel_hint.h"
#include "profile/profile.h"
#include "record/record.h"
#include "record/summary.h"

#include <stdint.h>

/* Above, a program must have samples. */
#define RUN_SUMMARY_CPU_WORTH_SAMPLING_NS UINT64_C(100000000)

struct run_summary {
    const char *command; /* or what was recorded from outside */
    const struct record_result *result;
    const struct profile *profile; /* resolved; NULL: not converted */
    const struct outputs *outputs;
    bool
        is_private; /* outputs have names with a pid: another rec was writing the requested files */
    bool is_verbose;
    struct kernel_hint kernel_hint;
    uint64_t stuck_after_ns; /* threads with longer waits at the end are listed */
};

void run_summary_print(const struct run_summary *run);

/* Much more CPU time than for start and end of the processes, but no sample. */
bool run_summary_lacks_samples(const struct record_summary *summary);

/* "status 3", "killed by SIGSEGV". */
struct run_summary_ending {
    char text[32];
};
struct run_summary_ending run_summary_ending(int wait_status);
