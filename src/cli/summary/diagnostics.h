/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with a recording: each with its size in per cent of the program's CPU time or
 * samples, and the one thing to do about it.
 */
#pragma once

#include "profile/profile.h"
#include "record/summary.h"

#include <stddef.h>

enum { DIAGNOSTICS_MAX = 16 };

struct diagnostic {
    double percent; /* how much of the profile it touches */
    char text[512];
};

/* The one with most CPU time; NULL: all were followed. */
const struct record_process *diagnostics_worst_not_followed(const struct record_summary *summary);

/* The main cause of CPU time without any sample; NULL: there is no such time, or the cause is not known. */
const char *diagnostics_gap_cause(const struct record_summary *summary);

/* Biggest first. profile may be NULL: then nothing is known of names. Returns how many. */
size_t diagnostics_find(const struct record_summary *summary, const struct profile *profile,
                        struct diagnostic diagnostics[DIAGNOSTICS_MAX]);

/* Says what was lost, and which modules have no names, of a profile that is not recorded now. symfs: where its files were looked
 * for; NULL: where they lay. */
void diagnostics_print_for_file(const struct profile *profile, const char *symfs);
