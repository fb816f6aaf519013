/* SPDX-License-Identifier: MIT */
#include "convert/known_stacks.h"

#include "base/containers/hash.h"
#include "base/containers/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* AT_RANDOM: 16 random bytes that the kernel gives to each new program. */
void known_stacks_init(struct known_stacks *known)
{
    *known = (struct known_stacks){0};
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (random)
        memcpy(known->key, random, sizeof(known->key));
}

void known_stacks_free(struct known_stacks *known)
{
    free(known->slots);
    *known = (struct known_stacks){0};
}

struct mix {
    uint64_t a, b;
};

/* Two words at once: both halves of a product. To make a factor small takes the key. */
static inline void mix(struct mix *mix, uint64_t first, uint64_t second)
{
    unsigned __int128 product = (unsigned __int128)(mix->a ^ first) * (mix->b ^ second);
    mix->a = (uint64_t)product ^ UINT64_C(0x9e3779b97f4a7c15);
    mix->b += (uint64_t)(product >> 64) ^ UINT64_C(0xd6e8feb86659fd93);
}

static uint64_t hash_of(const struct mix *mix)
{
    return hash_word(mix->a ^ hash_word(mix->b));
}

uint64_t known_stacks_hash(const struct known_stacks *known, const struct perfdata_event *sample)
{
    struct mix words = {known->key[0] ^ UINT64_C(0xff51afd7ed558ccd),
                        known->key[1] ^ UINT64_C(0xc4ceb9fe1a85ec53)};
    struct mix others = {words.b, words.a};
    const uint64_t *ips = sample->callchain;
    size_t count = sample->callchain_count, i = 0;
    if (count == 0 || sample->user_registers_mask || sample->branch_count)
        return 0;
    mix(&words, (uint64_t)sample->pid << 32 | sample->misc,
        (uint64_t)count << 32 | sample->attr_index);
    for (; count - i >= 4; i += 4) { /* two products at once: each waits for its own */
        mix(&words, ips[i], ips[i + 1]);
        mix(&others, ips[i + 2], ips[i + 3]);
    }
    for (; i < count; i++)
        mix(&words, ips[i], 0);
    mix(&words, others.a, others.b);
    return hash_of(&words) | 1;
}

/* Made for each sample, and only to tell the few states of one process apart. */
static uint32_t hash_place(const struct known_place *place)
{
    uint64_t hash = place->process * UINT64_C(0x9e3779b97f4a7c15) + place->map->generation;
    hash = hash * UINT64_C(0xd6e8feb86659fd93) + place->kernel->generation;
    return (uint32_t)(hash * UINT64_C(0xff51afd7ed558ccd) >> 32);
}

/* The lowest bit is set in all. */
static size_t first_slot(const struct known_stacks *known, uint64_t hash)
{
    return hash >> 1 & (known->slot_count - 1);
}

void known_stacks_expect(const struct known_stacks *known, uint64_t hash)
{
    if (known->slot_count)
        __builtin_prefetch(&known->slots[first_slot(known, hash)]);
}

/* The slot of a chain, or the empty one where it belongs. */
static struct known_stack *slot_of(const struct known_stacks *known, uint64_t hash)
{
    size_t at = first_slot(known, hash);
    while (known->slots[at].hash && known->slots[at].hash != hash)
        at = (at + 1) & (known->slot_count - 1);
    return &known->slots[at];
}

bool known_stacks_find(struct known_stacks *known, uint64_t hash, const struct known_place *place,
                       uint32_t *call)
{
    known->asked = (struct known_stack){.hash = hash};
    if (hash == 0)
        return false;
    known->asked.place = hash_place(place);
    const struct known_stack *slot = known->slot_count ? slot_of(known, hash) : NULL;
    if (!slot || slot->hash == 0 || slot->place != known->asked.place)
        return false;
    *call = slot->call;
    return true;
}

static bool grow(struct known_stacks *known)
{
    struct known_stacks grown = {.slot_count = known->slot_count ? known->slot_count * 2 : 1024};
    grown.slots = table_new(grown.slot_count, sizeof(*grown.slots));
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < known->slot_count; i++)
        if (known->slots[i].hash)
            *slot_of(&grown, known->slots[i].hash) = known->slots[i];
    free(known->slots);
    known->slots = grown.slots;
    known->slot_count = grown.slot_count;
    return true;
}

void known_stacks_add(struct known_stacks *known, uint32_t call)
{
    if (known->asked.hash == 0 || (known->count * 2 >= known->slot_count && !grow(known)))
        return;
    struct known_stack *slot = slot_of(known, known->asked.hash);
    known->count += slot->hash == 0;
    known->asked.call = call;
    *slot = known->asked;
}
