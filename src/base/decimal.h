/* SPDX-License-Identifier: MIT */
/* Whole numbers as text, several times faster than printf: for output with millions of them. */
#pragma once

#include "base/buffer.h"

#include <stdint.h>

/* Writes the digits so that they end before `end` (20 bytes at most); returns where they begin. */
char *decimal_before(char *end, uint64_t value);

void decimal_append(struct buffer *out, uint64_t value);
