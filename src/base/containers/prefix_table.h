/* SPDX-License-Identifier: MIT */
/*
 * A hash index over an array; elements begin with their key: two uint32_t, the (parent, what)
 * of a tree node. Slots hold an index and a hash, and keys are compared in the array, so a lookup
 * touches two cache lines and an element costs 16 to 32 bytes of index.
 *
 * Looking up a path node by node serialises cache misses: each key contains the index of the node
 * before. The hash of a node may therefore be the hash of its path, computable before any lookup:
 *
 *     prefix_table_prefetch_path(…, hash of the start node, path, count)
 *     for each element of the path
 *         hash = prefix_path_hash(hash, what)
 *         node = prefix_table_find_or_add(…, (struct prefix_key){node, what, hash})
 */
#pragma once

#include "base/containers/hash.h"

#include <stddef.h>
#include <stdint.h>

#define PREFIX_TABLE_NONE UINT32_MAX

struct prefix_slot {
    uint32_t index; /* index of an element plus one; 0: empty */
    uint32_t hash;
};

struct prefix_table {
    struct prefix_slot *slots; /* at most half full */
    size_t slot_count;
};

struct prefix_key {
    uint32_t first, second;
    uint32_t hash; /* a function of the first two members */
};

void prefix_table_free(struct prefix_table *table);

/* Hash of a path with one more element; path_hash 0: the empty path. */
static inline uint32_t prefix_path_hash(uint32_t path_hash, uint32_t what)
{
    return (uint32_t)hash_word((uint64_t)path_hash << 32 | what);
}

static inline struct prefix_key prefix_key_of(uint32_t first, uint32_t second)
{
    return (struct prefix_key){first, second, prefix_path_hash(first, second)};
}

/* Prefetches the nodes of a path, in parallel, ahead of the lookups. `whats` is in reverse
 * order: the last element comes first. path_hash: hash of the start node. */
void prefix_table_prefetch_path(const struct prefix_table *table, const void *elements,
                                size_t element_bytes, uint32_t path_hash, const uint32_t *whats,
                                size_t count);

/*
 * Returns the index of the element with this key. `count`: a new key; the caller appends the
 * element before the next call. PREFIX_TABLE_NONE: out of memory. elements: count elements of
 * element_bytes each.
 */
uint32_t prefix_table_find_or_add(struct prefix_table *table, const void *elements,
                                  size_t element_bytes, size_t count, struct prefix_key key);
