/* SPDX-License-Identifier: MIT */
/*
 * The sum of several resolved profiles, as one profile.
 *
 *     profile_merge_new ─▶ profile_merge_add, for each profile ─▶ profile_merge_finish
 *
 * Equal libs, functions and stacks become one; processes and threads stay apart, in the order of
 * the profiles. Weights add up exactly. Clocks of machines differ, so times of the sum are
 * CLOCK_REALTIME: each profile keeps its own wall-clock time.
 *
 * Events are equal by name and unit. The main events of two profiles are also equal if both are
 * CPU time: cpu-clock of one profile and task-clock of another add up. Host, command line and
 * product are from the first profile.
 */
#pragma once

#include "profile/profile.h"

struct profile_merge; /* opaque */

/* adds_samples_up: as in the profiles to be added. NULL: out of memory. */
struct profile_merge *profile_merge_new(bool adds_samples_up);
void profile_merge_free(struct profile_merge *merge);

/* The sum of the profiles so far, without stacks. */
const struct profile *profile_merge_sum(const struct profile_merge *merge);

/* divisor: of all weights; 1: none, N: for means of N profiles. Fractions are carried on to the
 * next sample of the list. 0 or -ENOMEM. `from` is not needed afterwards. */
int profile_merge_add(struct profile_merge *merge, const struct profile *from, uint32_t divisor);

/* The sum, owned by the caller; NULL: out of memory. */
struct profile *profile_merge_finish(struct profile_merge *merge);
