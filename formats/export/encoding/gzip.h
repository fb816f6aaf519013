/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Takes bytes; 0 or a negative errno. */
typedef int gzip_sink(void *context, const void *bytes, size_t size);

struct gzip; /* opaque: a gzip member without time stamp: equal input gives equal output */

/* level: 1 (fast) to 9. 0 or -ENOMEM. Up to 8 MiB are held back until they are all there. */
int gzip_open(struct gzip **out, int level, gzip_sink *sink, void *context);

/* 0, -EIO, -ENOMEM, or the sink's error. */
int gzip_write(struct gzip *gzip, const void *bytes, size_t size);
int gzip_finish(struct gzip *gzip);

void gzip_free(struct gzip *gzip);
