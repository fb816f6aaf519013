/* SPDX-License-Identifier: MIT */
/*
 * Defects of a recording, each with the affected percentage of CPU time or samples, the cause and
 * the remedy.
 */
#pragma once

#include "cli/summary/diagnostic_list.h"
#include "profile/profile.h"
#include "record/summary.h"

#include <stddef.h>

/* The process without samples with the most CPU time; NULL: none. */
const struct record_process *diagnostics_worst_not_followed(const struct record_summary *summary);

/* The main cause of sampling gaps; NULL: no gaps, or unknown cause. */
const char *diagnostics_gap_cause(const struct record_summary *summary);

/* Sorted by decreasing percentage. profile NULL: without checks of names. Returns the number. */
size_t diagnostics_find(const struct record_summary *summary, const struct profile *profile,
                        struct diagnostic diagnostics[DIAGNOSTICS_MAX]);

/* For an existing capture: prints lost records, modules without names, kernel time. symfs: root of
 * the recorded files, or NULL. */
void diagnostics_print_for_file(const struct profile *profile, const char *symfs);
