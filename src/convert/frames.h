/* SPDX-License-Identifier: MIT */
/* Adds frames to an address of a profile. */
#pragma once

#include "profile/profile.h"
#include "symbols/symbols.h"

/* result: at least one frame. Records in the lib which kinds of information were found. */
void frames_add(struct profile *profile, struct profile_address *address,
                const struct symbol_result *result);

/* Reduces the result to *frame: the machine-code symbol, without lines. */
void frames_keep_symbol(struct symbol_result *result, struct symbol_frame *frame);

/* A frame with a name only. */
void frames_add_bare(struct profile *profile, struct profile_address *address, const char *name);
