/* SPDX-License-Identifier: MIT */
/* A stack as lines: function, place, module; innermost first. */
#pragma once

#include "profile/profile.h"

#include <stddef.h>

/* At most `most` lines: of a longer stack the inner and the outermost frames. */
void frames_print(const struct profile *profile, uint32_t stack, unsigned columns, size_t most);
