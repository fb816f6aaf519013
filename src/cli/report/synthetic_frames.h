/* SPDX-License-Identifier: MIT */
/* Which of a profile's samples were taken. The others stand for time that no sample saw: [exit] and
 * the like, a name in brackets that nothing called. */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

bool sample_is_measured(const struct profile *profile, const struct profile_sample *sample);
size_t samples_count_measured(const struct profile *profile);
