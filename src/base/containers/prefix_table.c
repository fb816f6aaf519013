/* SPDX-License-Identifier: MIT */
#include "base/containers/prefix_table.h"

#include "base/containers/table.h"

#include <stdlib.h>

void prefix_table_free(struct prefix_table *table)
{
    free(table->slots);
    *table = (struct prefix_table){0};
}

static const uint32_t *key_of(const void *elements, size_t element_bytes, uint32_t index)
{
    return (const void *)((const char *)elements + index * element_bytes);
}

/* The hashes of the slots are enough: the elements are not read. */
static int grow(struct prefix_table *table)
{
    struct prefix_table grown = {.slot_count = table->slot_count ? table->slot_count * 2 : 64};
    grown.slots = table_new(grown.slot_count, sizeof(*grown.slots));
    if (!grown.slots)
        return -1;
    for (size_t i = 0; i < table->slot_count; i++) {
        size_t slot = table->slots[i].hash & (grown.slot_count - 1);
        if (table->slots[i].index == 0)
            continue;
        while (grown.slots[slot].index)
            slot = (slot + 1) & (grown.slot_count - 1);
        grown.slots[slot] = table->slots[i];
    }
    free(table->slots);
    *table = grown;
    return 0;
}

static const struct prefix_slot *slot_of(const struct prefix_table *table, uint32_t hash)
{
    return &table->slots[hash & (table->slot_count - 1)];
}

/* First prefetch all slots; the first slots have then arrived and give the addresses of their
 * elements. */
void prefix_table_prefetch_path(const struct prefix_table *table, const void *elements,
                                size_t element_bytes, uint32_t path_hash, const uint32_t *whats,
                                size_t count)
{
    uint32_t hash = path_hash;
    if (table->slot_count == 0)
        return;
    for (size_t i = count; i-- > 0;) {
        hash = prefix_path_hash(hash, whats[i]);
        __builtin_prefetch(slot_of(table, hash));
    }
    hash = path_hash;
    for (size_t i = count; i-- > 0;) {
        hash = prefix_path_hash(hash, whats[i]);
        const struct prefix_slot *slot = slot_of(table, hash);
        if (slot->index)
            __builtin_prefetch(key_of(elements, element_bytes, slot->index - 1));
    }
}

uint32_t prefix_table_find_or_add(struct prefix_table *table, const void *elements,
                                  size_t element_bytes, size_t count, struct prefix_key key)
{
    /* Slots have the index plus one in 32 bits. */
    if (count >= PREFIX_TABLE_NONE - 1)
        return PREFIX_TABLE_NONE;
    if (count * 2 >= table->slot_count && grow(table) != 0)
        return PREFIX_TABLE_NONE;
    size_t slot = key.hash & (table->slot_count - 1);
    for (; table->slots[slot].index; slot = (slot + 1) & (table->slot_count - 1)) {
        uint32_t index = table->slots[slot].index - 1;
        if (table->slots[slot].hash != key.hash)
            continue;
        const uint32_t *found = key_of(elements, element_bytes, index);
        if (found[0] == key.first && found[1] == key.second)
            return index;
    }
    table->slots[slot] = (struct prefix_slot){(uint32_t)count + 1, key.hash};
    return (uint32_t)count;
}
