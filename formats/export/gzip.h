/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buffer.h"

#include <stddef.h>

/* Appends the bytes as one gzip member, without a time stamp: equal input gives equal output.
 * level: 1 (fast) to 9. 0, -ENOMEM or -EIO. */
int gzip_append(struct buffer *out, const void *bytes, size_t size, int level);
