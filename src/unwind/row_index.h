/* SPDX-License-Identifier: MIT */
/* The index over a module's rows: see wire/rows.h. */
#pragma once

#include "wire/rows.h"

#include <stddef.h>

struct row_buckets {
    uint32_t count; /* 0: so few rows need no index */
    uint32_t shift;
};

/* The buckets that fit these rows: as many as keep the index small, however far apart the rows lie. */
struct row_buckets row_index_plan(const struct row *rows, size_t count);

/* Writes the index of count rows that was planned: a word for each bucket. */
void row_index_fill(uint32_t *words, struct row_buckets buckets, const struct row *rows,
                    size_t count);
