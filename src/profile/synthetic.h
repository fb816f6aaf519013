/* SPDX-License-Identifier: MIT */
/* Distinguishes measured samples from synthetic samples: CPU time outside of all samples, with a
 * root in brackets as the only frame ([exit], …), the end of a thread ([between samples] above the
 * start function), and [short waits]. A wait without a stack is measured. */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

bool sample_is_measured(const struct profile *profile, const struct profile_sample *sample);
/* Of the main event. */
size_t samples_count_measured(const struct profile *profile);
