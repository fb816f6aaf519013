/* SPDX-License-Identifier: MIT */
/* Whole numbers as text, several times faster than printf: for output with millions of them. */
#pragma once

#include "base/containers/buffer.h"

#include <stdint.h>

/* Writes up to 20 digits that end before `end`; returns the first digit. */
char *decimal_before(char *end, uint64_t value);

void decimal_append(struct buffer *out, uint64_t value);
