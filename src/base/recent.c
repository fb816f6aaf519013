/* SPDX-License-Identifier: MIT */
#include "base/recent.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_SLOTS = 1 << 9 };

void recent_free(struct recent *recent)
{
    free(recent->entries);
    *recent = (struct recent){0};
}

void recent_forget(struct recent *recent, size_t entry_bytes)
{
    if (recent->slot_count)
        memset(recent->entries, 0, recent->slot_count * entry_bytes);
}

/* Returns the first slot. Its old entry moves to the second slot, unless either has the same
 * key. */
static void *make_room(struct recent *recent, size_t entry_bytes, const struct recent_key *key)
{
    uint8_t *slot = recent_slot(recent, entry_bytes, key->avma);
    const struct recent_key *have = (const void *)slot;
    if (have->generation != key->generation || have->avma != key->avma)
        memcpy(slot + entry_bytes, slot, entry_bytes);
    return slot;
}

static void grow(struct recent *recent, size_t entry_bytes)
{
    size_t count = recent->slot_count ? recent->slot_count * 2 : FEWEST_SLOTS;
    struct recent grown = {.entries = calloc(count, entry_bytes), .slot_count = count};
    if (!grown.entries)
        return;
    for (size_t i = recent->slot_count; i-- > 0;) {
        const uint8_t *entry = recent->entries + i * entry_bytes;
        const struct recent_key *key = (const void *)entry;
        if (key->generation)
            memcpy(make_room(&grown, entry_bytes, key), entry, entry_bytes);
    }
    free(recent->entries);
    *recent = grown;
}

void *recent_add(struct recent *recent, size_t entry_bytes, size_t most_slots,
                 struct recent_key key)
{
    if (recent->added >= recent->slot_count && recent->slot_count < most_slots)
        grow(recent, entry_bytes);
    if (recent->slot_count == 0)
        return NULL;
    recent->added++;
    struct recent_key *entry = make_room(recent, entry_bytes, &key);
    *entry = key;
    return entry;
}
