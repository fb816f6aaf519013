/* SPDX-License-Identifier: MIT */
/* Gives an address of a profile its frames. */
#pragma once

#include "profile/profile.h"
#include "symbols/symbols.h"

/* result: at least one frame. The lib is marked as having what was found. */
void frames_add(struct profile *profile, struct profile_address *address,
                const struct symbol_result *result);

/* Makes the result the one frame of the machine-code symbol, without lines. *frame is what it points to then. */
void frames_keep_symbol(struct symbol_result *result, struct symbol_frame *frame);

/* One frame with this name and nothing else known. */
void frames_add_bare(struct profile *profile, struct profile_address *address, const char *name);
