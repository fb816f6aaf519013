/* SPDX-License-Identifier: MIT */
/* Weights of the main event in text and JSON: CPU time, or a number of events. */
#pragma once

#include "cli/terminal/format.h"
#include "profile/profile.h"

/* "12.4 s", or "23 061". */
struct formatted weight_format(const struct profile *profile, uint64_t weight);

/* The noun after a weight: "CPU", "off CPU", "wall time", "page-faults". */
const char *weight_noun(const struct profile *profile);

/* "CPU time", "off-CPU time", "wall time"; NULL: the weights are counts. */
const char *weight_time_name(const struct profile *profile);

/* The JSON key of a weight: as_ns ("self_ns") or as_count ("self"). */
const char *weight_key(const struct profile *profile, const char *as_ns, const char *as_count);
