/* SPDX-License-Identifier: MIT */
/* Which of a profile's samples were taken. The others stand for time that no sample saw: [exit] and
 * the like, a name in brackets that nothing called. */
#pragma once

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>

bool taken_sample(const struct profile *profile, const struct profile_sample *sample);
size_t taken_count(const struct profile *profile);
