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
#include <string.h>

/* Makes room for at least `need` elements; 0 or -ENOMEM. */
int array_reserve(void **items, size_t *capacity, size_t need, size_t element_bytes);

/* Appends a zeroed element; NULL: out of memory. Inline: the array has room in most calls, and
 * most elements are small. */
#define ARRAY_PUSH(items, count, capacity)                                           \
    ((__typeof__(items))(((count) < (capacity) ||                                    \
                          array_reserve((void **)&(items), &(capacity), (count) + 1, \
                                        sizeof(*(items))) == 0)                      \
                             ? memset(&(items)[(count)++], 0, sizeof(*(items)))      \
                             : NULL))

/*
 * Number of elements with a member <= `key` (or < `key`), in an array sorted by the member. Also
 * the index of the first other element.
 */
#define ARRAY_COUNT_UP_TO(items, count, member, key) ARRAY_SEARCH(items, count, member, <=, key)
#define ARRAY_COUNT_BELOW(items, count, member, key) ARRAY_SEARCH(items, count, member, <, key)

#define ARRAY_SEARCH(items, count, member, is, key)     \
    ({                                                  \
        size_t low_ = 0, high_ = (count);               \
        while (low_ < high_) {                          \
            size_t middle_ = low_ + (high_ - low_) / 2; \
            if ((items)[middle_].member is(key))        \
                low_ = middle_ + 1;                     \
            else                                        \
                high_ = middle_;                        \
        }                                               \
        low_;                                           \
    })
