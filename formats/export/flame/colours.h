/* SPDX-License-Identifier: MIT */
/* Colours of the boxes of a picture: of a profile by kind of code, of a difference by direction. */
#pragma once

#include "export/flame/difference.h"

extern const char *const colour_kind_names[CALL_KINDS];

/* Kinds by hue, functions by shade; the paler half is for inlined functions. */
const char *colour_of_frame(const struct call_frame *frame);
const char *colour_of_kind(int category);

/* strength: 0 to 1, of the change relative to the larger side. */
const char *colour_of_shift(enum flame_shift shift, double strength);
