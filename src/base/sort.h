/* SPDX-License-Identifier: MIT */
/*
 * Sorting by a number, byte by byte: tables of symbols and of call frames have ten thousands of elements, and
 * comparing them two by two was a sixth of the time of a conversion.
 */
#pragma once

#include <stddef.h>

/* Sorts an array by a member, unsigned, of 4 or 8 bytes; elements with equal ones keep their order. 0 or -ENOMEM,
 * then nothing has moved. */
#define SORT_BY(items, count, member)                                                   \
    sort_by((items), (count), sizeof(*(items)), offsetof(__typeof__(*(items)), member), \
            sizeof((items)->member))

/* The same; elements with equal members are ordered by compare, as qsort() does. */
#define SORT_BY_THEN(items, count, member, compare)                                          \
    sort_by_then((items), (count), sizeof(*(items)), offsetof(__typeof__(*(items)), member), \
                 sizeof((items)->member), (compare))

int sort_by(void *items, size_t count, size_t element_bytes, size_t key_at, size_t key_bytes);
int sort_by_then(void *items, size_t count, size_t element_bytes, size_t key_at, size_t key_bytes,
                 int (*compare)(const void *, const void *));
