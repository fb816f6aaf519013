/* SPDX-License-Identifier: MIT */
/*
 * Growable arrays: a pointer, a count and a capacity side by side in their owner's struct.
 *
 *     struct thing *things; size_t count, capacity;
 *     struct thing *t = ARRAY_PUSH(owner->things, owner->count, owner->capacity);
 *     if (!t) return -ENOMEM;
 */
#pragma once

#include <stddef.h>

/* Makes room for at least `need` elements; 0 or -ENOMEM. */
int array_reserve(void **items, size_t *capacity, size_t need, size_t element_bytes);

/* One more element, zeroed; NULL when memory is out. */
#define ARRAY_PUSH(items, count, capacity) \
    ((__typeof__(items))array_push((void **)&(items), &(count), &(capacity), sizeof(*(items))))

void *array_push(void **items, size_t *count, size_t *capacity, size_t element_bytes);
