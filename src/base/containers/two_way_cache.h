/* SPDX-License-Identifier: MIT */
/*
 * A two-way set-associative cache, keyed by generation and address: programs return to the same
 * addresses. Entries have a fixed size and begin with their key. Each key has two adjacent slots; a
 * third key with the same slots evicts the older entry.
 *
 *     struct place { struct two_way_cache_key key; uint32_t id; };
 *     const struct place *found = two_way_cache_find(&cache, sizeof(*found), key);
 *     struct place *added = found ? NULL : two_way_cache_add(&cache, sizeof(*added), 1 << 16, key);
 *     if (added)
 *         added->id = …;
 *
 * The table starts small and grows with use: each page of a large table costs two faults, one at
 * the first read and one at the first write, and the write fault stalls all threads. Small
 * recordings end before the table grows.
 */
#pragma once

#include "base/containers/hash.h"

#include <stddef.h>
#include <stdint.h>

struct two_way_cache_key {
    uint64_t generation; /* generation of the cached result; 0: empty slot */
    uint64_t avma;
};

struct two_way_cache { /* zeros: empty */
    uint8_t *entries;
    size_t slot_count; /* a power of two, or 0 */
    size_t added;      /* since the last growth */
};

void two_way_cache_free(struct two_way_cache *cache);
/* Drops all entries, keeps the memory. */
void two_way_cache_clear(struct two_way_cache *cache, size_t entry_bytes);

/* The first slot of an address. */
static inline void *two_way_cache_slot(const struct two_way_cache *cache, size_t entry_bytes,
                                       uint64_t avma)
{
    return cache->entries + (hash_word(avma) & (cache->slot_count - 2)) * entry_bytes;
}

/* Prefetches the slots of an address. */
static inline void two_way_cache_prefetch(const struct two_way_cache *cache, size_t entry_bytes,
                                          uint64_t avma)
{
    if (cache->slot_count)
        __builtin_prefetch(two_way_cache_slot(cache, entry_bytes, avma));
}

/* NULL: not present. Valid until the next two_way_cache_add(). */
static inline const void *two_way_cache_find(const struct two_way_cache *cache, size_t entry_bytes,
                                             struct two_way_cache_key key)
{
    if (cache->slot_count == 0)
        return NULL;
    const uint8_t *slot = two_way_cache_slot(cache, entry_bytes, key.avma);
    for (int way = 0; way < 2; way++, slot += entry_bytes) {
        const struct two_way_cache_key *have = (const void *)slot;
        if (have->generation == key.generation && have->avma == key.avma)
            return have;
    }
    return NULL;
}

/* Returns the entry for a key, to be filled in; replaces an entry with the same key. most_slots:
 * a power of two. NULL: out of memory. */
void *two_way_cache_add(struct two_way_cache *cache, size_t entry_bytes, size_t most_slots,
                        struct two_way_cache_key key);
