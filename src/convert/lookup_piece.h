/* SPDX-License-Identifier: MIT */
/* What a confined process does for a lookup: it opens one binary, and asks it for names. */
#pragma once

#include "base/buffer.h"
#include "convert/lookup.h"

/* Appends the answer: what there is to say, terminated, then the names as they are stored in captures. */
void lookup_piece_answer(const struct lookup *lookup, const struct lookup_piece *piece,
                         struct buffer *out);
