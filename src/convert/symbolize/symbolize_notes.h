/* SPDX-License-Identifier: MIT */
/* Notes of all ranges, for the user. */
#pragma once

#include "convert/symbolize/symbolize_range.h"
#include "profile/profile.h"

#include <stddef.h>

/* In the order of ranges, independent of arrival. Ranges of a lib may have equal notes. A hostile
 * process maps thousands of damaged files: a line for each would hide the summary. */
void symbolize_notes_add(struct profile *profile, const struct symbolize_range *ranges,
                         size_t count);
