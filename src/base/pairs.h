/* SPDX-License-Identifier: MIT */
/*
 * A hash index over an array whose elements begin with two uint32_t that are their key: the nodes of a tree,
 * (parent, what). Slots hold an index and a hash; the keys are read where they are, so that a lookup touches
 * two places in memory and an element costs 16 to 32 bytes more than itself.
 *
 * Who looks up a whole path has to know one node before it can ask for the next, and waits for memory each time. So
 * the hash of a node may be that of its path, which is known before any of its nodes is:
 *
 *     pairs_expect_path(…, hash of the node that it starts at, path, count)
 *     for each of the path   hash = pairs_path_hash(hash, what)
 *                            node = pairs_find_or_add(…, (struct pair){node, what, hash})
 */
#pragma once

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

#define PAIRS_NONE UINT32_MAX

struct pairs_slot {
    uint32_t index; /* of an element, plus one; 0 is empty */
    uint32_t hash;
};

struct pairs {
    struct pairs_slot *slots; /* at most half full */
    size_t slot_count;
};

struct pair {
    uint32_t first, second;
    uint32_t hash; /* the same whenever the other two are */
};

void pairs_free(struct pairs *pairs);

/* Of a path that goes on; 0: of the one that has not begun. */
static inline uint32_t pairs_path_hash(uint32_t path_hash, uint32_t what)
{
    return (uint32_t)hash_word((uint64_t)path_hash << 32 | what);
}

static inline struct pair pair_of(uint32_t first, uint32_t second)
{
    return (struct pair){first, second, pairs_path_hash(first, second)};
}

/* That the nodes of a path will be looked up now, the last of whats first, below a node of this hash: memory answers for
 * all of them at once. */
void pairs_expect_path(const struct pairs *pairs, const void *elements, size_t element_bytes,
                       uint32_t path_hash, const uint32_t *whats, size_t count);

/*
 * The index of the element with this key. `count`: there was none, and the caller appends it before the
 * next call. PAIRS_NONE: out of memory. elements: count of them, each of element_bytes.
 */
uint32_t pairs_find_or_add(struct pairs *pairs, const void *elements, size_t element_bytes,
                           size_t count, struct pair key);
