/* SPDX-License-Identifier: MIT */
#include "base/pairs.h"

#include "base/hash.h"
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

static size_t slot_of(const struct pairs *pairs, uint32_t first, uint32_t second)
{
    return hash_word((uint64_t)first << 32 | second) & (pairs->slot_count - 1);
}

static int grow(struct pairs *pairs, const void *elements, size_t element_bytes, size_t count)
{
    struct pairs grown = {.slot_count = pairs->slot_count ? pairs->slot_count * 2 : 64};
    grown.slots = table_new(grown.slot_count, sizeof(*grown.slots));
    if (!grown.slots)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *key = key_of(elements, element_bytes, i);
        size_t slot = slot_of(&grown, key[0], key[1]);
        while (grown.slots[slot])
            slot = (slot + 1) & (grown.slot_count - 1);
        grown.slots[slot] = i + 1;
    }
    free(pairs->slots);
    *pairs = grown;
    return 0;
}

uint32_t pairs_find_or_add(struct pairs *pairs, const void *elements, size_t element_bytes,
                           size_t count, uint32_t first, uint32_t second)
{
    if (count >= PAIRS_NONE - 1)
        return PAIRS_NONE;
    if (count * 2 >= pairs->slot_count && grow(pairs, elements, element_bytes, count) != 0)
        return PAIRS_NONE;
    size_t slot = slot_of(pairs, first, second);
    for (; pairs->slots[slot]; slot = (slot + 1) & (pairs->slot_count - 1)) {
        uint32_t index = pairs->slots[slot] - 1;
        const uint32_t *key = key_of(elements, element_bytes, index);
        if (key[0] == first && key[1] == second)
            return index;
    }
    pairs->slots[slot] = (uint32_t)count + 1;
    return (uint32_t)count;
}
