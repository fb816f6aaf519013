/* SPDX-License-Identifier: MIT */
#include "unwind/offline_cache.h"

#include "base/hash.h"

#include <stdlib.h>

enum { FEWEST_SLOTS = 1 << 9, MOST_SLOTS = 1 << 15 };

struct offline_cached {
    uint64_t generation, pc; /* 0, 0: empty */
    struct offline_place place;
};

void offline_cache_free(struct offline_cache *cache)
{
    free(cache->slots);
    *cache = (struct offline_cache){0};
}

static struct offline_cached *slot_of(const struct offline_cache *cache, uint64_t pc)
{
    return &cache->slots[hash_word(pc) & (cache->slot_count - 1)];
}

const struct offline_place *offline_cache_find(const struct offline_cache *cache,
                                               uint64_t generation, uint64_t pc)
{
    const struct offline_cached *slot = cache->slot_count ? slot_of(cache, pc) : NULL;
    return slot && slot->generation == generation && slot->pc == pc ? &slot->place : NULL;
}

static void grow(struct offline_cache *cache)
{
    size_t count = cache->slot_count ? cache->slot_count * 2 : FEWEST_SLOTS;
    struct offline_cache grown = {.slots = calloc(count, sizeof(*grown.slots)),
                                  .slot_count = count};
    if (!grown.slots)
        return;
    for (size_t i = 0; i < cache->slot_count; i++)
        if (cache->slots[i].generation)
            *slot_of(&grown, cache->slots[i].pc) = cache->slots[i];
    free(cache->slots);
    *cache = grown;
}

void offline_cache_add(struct offline_cache *cache, uint64_t generation, uint64_t pc,
                       const struct offline_place *place)
{
    if (cache->added >= cache->slot_count && cache->slot_count < MOST_SLOTS)
        grow(cache);
    if (cache->slot_count == 0)
        return;
    cache->added++;
    *slot_of(cache, pc) = (struct offline_cached){generation, pc, *place};
}
