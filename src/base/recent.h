/* SPDX-License-Identifier: MIT */
/*
 * A two-way set-associative cache, keyed by generation and address: programs return to the same
 * addresses. Entries have a fixed size and begin with their key. Each key has two adjacent slots; a
 * third key with the same slots evicts the older entry.
 *
 *     struct place { struct recent_key key; uint32_t id; };
 *     const struct place *found = recent_find(&recent, sizeof(*found), key);
 *     struct place *added = found ? NULL : recent_add(&recent, sizeof(*added), 1 << 16, key);
 *     if (added)
 *         added->id = …;
 *
 * The table starts small and grows with use: each page of a large table costs two faults, one at
 * the first read and one at the first write, and the write fault stalls all threads. Small
 * recordings end before the table grows.
 */
#pragma once

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

struct recent_key {
    uint64_t generation; /* generation of the cached result; 0: empty slot */
    uint64_t avma;
};

struct recent { /* zeros: empty */
    uint8_t *entries;
    size_t slot_count; /* a power of two, or 0 */
    size_t added;      /* since the last growth */
};

void recent_free(struct recent *recent);
/* Drops all entries, keeps the memory. */
void recent_forget(struct recent *recent, size_t entry_bytes);

/* The first slot of an address. */
static inline void *recent_slot(const struct recent *recent, size_t entry_bytes, uint64_t avma)
{
    return recent->entries + (hash_word(avma) & (recent->slot_count - 2)) * entry_bytes;
}

/* Prefetches the slots of an address. */
static inline void recent_expect(const struct recent *recent, size_t entry_bytes, uint64_t avma)
{
    if (recent->slot_count)
        __builtin_prefetch(recent_slot(recent, entry_bytes, avma));
}

/* NULL: not present. Valid until the next recent_add(). */
static inline const void *recent_find(const struct recent *recent, size_t entry_bytes,
                                      struct recent_key key)
{
    if (recent->slot_count == 0)
        return NULL;
    const uint8_t *slot = recent_slot(recent, entry_bytes, key.avma);
    for (int way = 0; way < 2; way++, slot += entry_bytes) {
        const struct recent_key *have = (const void *)slot;
        if (have->generation == key.generation && have->avma == key.avma)
            return have;
    }
    return NULL;
}

/* Returns the entry for a key, to be filled in; replaces an entry with the same key. most_slots:
 * a power of two. NULL: out of memory. */
void *recent_add(struct recent *recent, size_t entry_bytes, size_t most_slots,
                 struct recent_key key);
