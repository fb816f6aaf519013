/* SPDX-License-Identifier: MIT */
#include "base/pairs.h"

#include "base/table.h"

#include <stdlib.h>

void pairs_free(struct pairs *pairs)
{
    free(pairs->slots);
    *pairs = (struct pairs){0};
}

static const uint32_t *key_of(const void *elements, size_t element_bytes, uint32_t index)
{
    return (const void *)((const char *)elements + index * element_bytes);
}

static int grow(struct pairs *pairs)
{
    struct pairs grown = {.slot_count = pairs->slot_count ? pairs->slot_count * 2 : 64};
    grown.slots = table_new(grown.slot_count, sizeof(*grown.slots));
    if (!grown.slots)
        return -1;
    for (size_t i = 0; i < pairs->slot_count; i++) {
        size_t slot = pairs->slots[i].hash & (grown.slot_count - 1);
        if (pairs->slots[i].index == 0)
            continue;
        while (grown.slots[slot].index)
            slot = (slot + 1) & (grown.slot_count - 1);
        grown.slots[slot] = pairs->slots[i];
    }
    free(pairs->slots);
    *pairs = grown;
    return 0;
}

static const struct pairs_slot *slot_of(const struct pairs *pairs, uint32_t hash)
{
    return &pairs->slots[hash & (pairs->slot_count - 1)];
}

/* First prefetch all slots; the first slots have then arrived and give the addresses of their
 * elements. */
void pairs_expect_path(const struct pairs *pairs, const void *elements, size_t element_bytes,
                       uint32_t path_hash, const uint32_t *whats, size_t count)
{
    uint32_t hash = path_hash;
    if (pairs->slot_count == 0)
        return;
    for (size_t i = count; i-- > 0;) {
        hash = pairs_path_hash(hash, whats[i]);
        __builtin_prefetch(slot_of(pairs, hash));
    }
    hash = path_hash;
    for (size_t i = count; i-- > 0;) {
        hash = pairs_path_hash(hash, whats[i]);
        const struct pairs_slot *slot = slot_of(pairs, hash);
        if (slot->index)
            __builtin_prefetch(key_of(elements, element_bytes, slot->index - 1));
    }
}

uint32_t pairs_find_or_add(struct pairs *pairs, const void *elements, size_t element_bytes,
                           size_t count, struct pair key)
{
    if (count >= PAIRS_NONE - 1)
        return PAIRS_NONE;
    if (count * 2 >= pairs->slot_count && grow(pairs) != 0)
        return PAIRS_NONE;
    size_t slot = key.hash & (pairs->slot_count - 1);
    for (; pairs->slots[slot].index; slot = (slot + 1) & (pairs->slot_count - 1)) {
        uint32_t index = pairs->slots[slot].index - 1;
        if (pairs->slots[slot].hash != key.hash)
            continue;
        const uint32_t *found = key_of(elements, element_bytes, index);
        if (found[0] == key.first && found[1] == key.second)
            return index;
    }
    pairs->slots[slot] = (struct pairs_slot){(uint32_t)count + 1, key.hash};
    return (uint32_t)count;
}
