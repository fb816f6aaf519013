/* SPDX-License-Identifier: MIT */
/* Completeness of a recording, for --fail-on=incomplete. */
#pragma once

#include "record/record.h"

/* Percentage of the CPU time without a complete stack: lost, not followed, truncated. */
double incomplete_percent(const struct record_summary *summary);
