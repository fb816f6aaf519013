/* SPDX-License-Identifier: MIT */
/* How much of the program's CPU time is missing in the stacks of a recording: for --fail-on=incomplete. */
#pragma once

#include "record/record.h"

/* Per cent of the CPU time for which no sample with a complete stack stands: lost, not followed, truncated. */
double incomplete_percent(const struct record_summary *summary);
