/* SPDX-License-Identifier: MIT */
#include "convert/known_addresses.h"

#include "base/hash.h"
#include "profile/profile.h"

#include <stdlib.h>

enum { FEWEST_SLOTS = 1 << 9, MOST_SLOTS = 1 << 16 };

void known_addresses_free(struct known_addresses *known)
{
    free(known->slots);
    *known = (struct known_addresses){0};
}

static struct known_address *slot_of(const struct known_addresses *known, uint64_t avma)
{
    return &known->slots[hash_word(avma) & (known->slot_count - 1)];
}

uint32_t known_addresses_find(const struct known_addresses *known, uint64_t generation,
                              uint64_t avma)
{
    const struct known_address *slot = known->slot_count ? slot_of(known, avma) : NULL;
    return slot && slot->generation == generation && slot->avma == avma ? slot->address
                                                                        : PROFILE_NONE;
}

static void grow(struct known_addresses *known)
{
    size_t count = known->slot_count ? known->slot_count * 2 : FEWEST_SLOTS;
    struct known_addresses grown = {.slots = calloc(count, sizeof(*grown.slots)),
                                    .slot_count = count};
    if (!grown.slots)
        return;
    for (size_t i = 0; i < known->slot_count; i++)
        if (known->slots[i].generation)
            *slot_of(&grown, known->slots[i].avma) = known->slots[i];
    free(known->slots);
    *known = grown;
}

void known_addresses_add(struct known_addresses *known, const struct known_address *found)
{
    if (known->added >= known->slot_count && known->slot_count < MOST_SLOTS)
        grow(known);
    if (known->slot_count == 0)
        return;
    known->added++;
    *slot_of(known, found->avma) = *found;
}
