/* SPDX-License-Identifier: MIT */
/*
 * What was found for an address before: programs are in the same places again and again. A table of entries of one
 * size, each of which begins with its key. A key may be in either of two slots side by side; of three keys of these
 * two slots, the one added first is forgotten.
 *
 *     struct place { struct recent_key key; uint32_t id; };
 *     const struct place *known = recent_find(&recent, sizeof(*known), key);
 *     struct place *made = known ? NULL : recent_add(&recent, sizeof(*made), 1 << 16, key);
 *     if (made)
 *         made->id = …;
 *
 * There are more slots when more is asked for: of a large table each page costs two faults, the first for looking and
 * the second, which all threads wait for, for writing. Small recordings are over before that.
 */
#pragma once

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

struct recent_key {
    uint64_t generation; /* of the state that the answer holds for; not 0: that is an empty slot */
    uint64_t avma;
};

struct recent { /* zeros: empty */
    uint8_t *entries;
    size_t slot_count; /* a power of two, or 0 */
    size_t added;      /* since there are as many slots */
};

void recent_free(struct recent *recent);
/* Forgets everything, and keeps the memory. */
void recent_forget(struct recent *recent, size_t entry_bytes);

/* The first of the two. */
static inline void *recent_slot(const struct recent *recent, size_t entry_bytes, uint64_t avma)
{
    return recent->entries + (hash_word(avma) & (recent->slot_count - 2)) * entry_bytes;
}

/* That it will be asked for soon. */
static inline void recent_expect(const struct recent *recent, size_t entry_bytes, uint64_t avma)
{
    if (recent->slot_count)
        __builtin_prefetch(recent_slot(recent, entry_bytes, avma));
}

/* NULL: not met, or forgotten. Valid until the next is added. */
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

/* The entry for a key, to be filled in, also in place of one that the key has; most_slots: a power of two. NULL: memory
 * is out. */
void *recent_add(struct recent *recent, size_t entry_bytes, size_t most_slots,
                 struct recent_key key);
