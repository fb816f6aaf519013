/* SPDX-License-Identifier: MIT */
#include "base/containers/two_way_cache.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_SLOTS = 1 << 9 };

void two_way_cache_free(struct two_way_cache *cache)
{
    free(cache->entries);
    *cache = (struct two_way_cache){0};
}

void two_way_cache_clear(struct two_way_cache *cache, size_t entry_bytes)
{
    if (cache->slot_count)
        memset(cache->entries, 0, cache->slot_count * entry_bytes);
}

/* Returns the first slot. Its old entry moves to the second slot, unless either has the same
 * key. */
static void *make_room(struct two_way_cache *cache, size_t entry_bytes,
                       const struct two_way_cache_key *key)
{
    uint8_t *slot = two_way_cache_slot(cache, entry_bytes, key->avma);
    const struct two_way_cache_key *have = (const void *)slot;
    if (have->generation != key->generation || have->avma != key->avma)
        memcpy(slot + entry_bytes, slot, entry_bytes);
    return slot;
}

/* From the end: the newer of two neighbours, the first, is entered last and stays the first.
 * Without memory the old table is used further. */
static void grow(struct two_way_cache *cache, size_t entry_bytes)
{
    size_t count = cache->slot_count ? cache->slot_count * 2 : FEWEST_SLOTS;
    struct two_way_cache grown = {.entries = calloc(count, entry_bytes), .slot_count = count};
    if (!grown.entries)
        return;
    for (size_t i = cache->slot_count; i-- > 0;) {
        const uint8_t *entry = cache->entries + i * entry_bytes;
        const struct two_way_cache_key *key = (const void *)entry;
        if (key->generation)
            memcpy(make_room(&grown, entry_bytes, key), entry, entry_bytes);
    }
    free(cache->entries);
    *cache = grown;
}

void *two_way_cache_add(struct two_way_cache *cache, size_t entry_bytes, size_t most_slots,
                        struct two_way_cache_key key)
{
    if (cache->added >= cache->slot_count / 2 && cache->slot_count < most_slots)
        grow(cache, entry_bytes);
    if (cache->slot_count == 0)
        return NULL;
    cache->added++;
    struct two_way_cache_key *entry = make_room(cache, entry_bytes, &key);
    *entry = key;
    return entry;
}
