/* SPDX-License-Identifier: MIT */
/*
 * Radix sort by an integer member. Symbol and CFI tables have tens of thousands of elements; a
 * comparison sort took a sixth of the conversion time.
 */
#pragma once

#include <stddef.h>

/* Stable sort by an unsigned member of 4 or 8 bytes. 0 or -ENOMEM; on failure nothing has moved. */
#define SORT_BY(items, count, member)                                                   \
    sort_by((items), (count), sizeof(*(items)), offsetof(__typeof__(*(items)), member), \
            sizeof((items)->member))

/* Elements with equal members are ordered by compare, as with qsort(). */
#define SORT_BY_THEN(items, count, member, compare)                                          \
    sort_by_then((items), (count), sizeof(*(items)), offsetof(__typeof__(*(items)), member), \
                 sizeof((items)->member), (compare))

int sort_by(void *items, size_t count, size_t element_bytes, size_t key_at, size_t key_bytes);
int sort_by_then(void *items, size_t count, size_t element_bytes, size_t key_at, size_t key_bytes,
                 int (*compare)(const void *, const void *));
