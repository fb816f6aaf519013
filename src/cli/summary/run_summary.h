/* SPDX-License-Identifier: MIT */
/* What is said when a recording has ended: at most six lines, diagnostics with their size. */
#pragma once

#include "cli/files/outputs.h"
#include "profile/profile.h"
#include "record/record.h"
#include "record/summary.h"

#include <stdint.h>

/* A program that used more than this must have samples, unless it was many short ones. */
#define RUN_SUMMARY_CPU_WORTH_SAMPLING_NS UINT64_C(100000000)

struct run_summary {
    const char *command;
    const struct record_result *result;
    const struct profile *profile; /* with names; NULL: it was not converted */
    const struct outputs *outputs;
    bool is_private; /* another rec was writing the files that were asked for */
    bool is_verbose;
};

void run_summary_print(const struct run_summary *run);

/* It used much more CPU time than programs do at their beginnings and ends, and has no sample. */
bool run_summary_lacks_samples(const struct record_summary *summary);

/* "status 3", "killed by SIGSEGV". */
struct run_summary_ending {
    char text[32];
};
struct run_summary_ending run_summary_ending(int wait_status);
