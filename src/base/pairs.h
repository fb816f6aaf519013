/* SPDX-License-Identifier: MIT */
/*
 * A hash index over an array whose elements begin with two uint32_t that are their key: the nodes of a tree,
 * (parent, what). It holds nothing but slots; the keys are read where they are, so that a lookup touches
 * two places in memory and an element costs 8 to 16 bytes more than itself.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PAIRS_NONE UINT32_MAX

struct pairs {
    uint32_t *slots; /* index + 1 of an element; 0 is empty; at most half full */
    size_t slot_count;
};

void pairs_free(struct pairs *pairs);

/*
 * The index of the element with this key. `count`: there was none, and the caller appends it before the
 * next call. PAIRS_NONE: out of memory. elements: count of them, each of element_bytes.
 */
uint32_t pairs_find_or_add(struct pairs *pairs, const void *elements, size_t element_bytes,
                           size_t count, uint32_t first, uint32_t second);
