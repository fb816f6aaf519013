/* SPDX-License-Identifier: MIT */
#include "convert/known_stacks.h"

#include "base/hash.h"

#include <stdlib.h>

void known_stacks_free(struct known_stacks *known)
{
    free(known->slots);
    *known = (struct known_stacks){0};
}

struct mix {
    uint64_t a, b;
};

/* Two words at once: both halves of a product, of factors that no two words make small. */
static inline void mix(struct mix *mix, uint64_t first, uint64_t second)
{
    unsigned __int128 product = (unsigned __int128)(mix->a ^ first) * (mix->b ^ second);
    mix->a = (uint64_t)product ^ UINT64_C(0x9e3779b97f4a7c15);
    mix->b += (uint64_t)(product >> 64) ^ UINT64_C(0xd6e8feb86659fd93);
}

static struct known_stack identify(const struct perfdata_event *sample,
                                   const struct known_place *place)
{
    struct mix words = {UINT64_C(0xff51afd7ed558ccd), UINT64_C(0xc4ceb9fe1a85ec53)};
    size_t count = sample->callchain_count, i = 0;
    mix(&words, count, sample->attr_index);
    mix(&words, (uint64_t)place->process << 32 | sample->misc, place->map->generation);
    for (; i + 1 < count; i += 2)
        mix(&words, sample->callchain[i], sample->callchain[i + 1]);
    mix(&words, place->kernel->generation, i < count ? sample->callchain[i] : 0);
    return (struct known_stack){.hash = hash_word(words.a),
                                .check = (uint32_t)hash_word(words.b) | 1};
}

/* The slot of a stack, or the empty one where it belongs. */
static struct known_stack *slot_of(const struct known_stacks *known,
                                   const struct known_stack *stack)
{
    size_t mask = known->slot_count - 1;
    for (size_t at = stack->hash & mask;; at = (at + 1) & mask) {
        struct known_stack *slot = &known->slots[at];
        if (slot->check == 0 || (slot->hash == stack->hash && slot->check == stack->check))
            return slot;
    }
}

bool known_stacks_find(struct known_stacks *known, const struct perfdata_event *sample,
                       const struct known_place *place, uint32_t *call)
{
    known->asked = (struct known_stack){0};
    if (sample->callchain_count == 0 || sample->user_registers_mask || sample->branch_count)
        return false;
    known->asked = identify(sample, place);
    const struct known_stack *slot = known->slot_count ? slot_of(known, &known->asked) : NULL;
    if (!slot || slot->check == 0)
        return false;
    *call = slot->call;
    return true;
}

static bool grow(struct known_stacks *known)
{
    struct known_stacks grown = {.slot_count = known->slot_count ? known->slot_count * 2 : 1024};
    grown.slots = calloc(grown.slot_count, sizeof(*grown.slots));
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < known->slot_count; i++)
        if (known->slots[i].check)
            *slot_of(&grown, &known->slots[i]) = known->slots[i];
    free(known->slots);
    known->slots = grown.slots;
    known->slot_count = grown.slot_count;
    return true;
}

void known_stacks_add(struct known_stacks *known, uint32_t call)
{
    if (known->asked.check == 0 || (known->count * 2 >= known->slot_count && !grow(known)))
        return;
    known->asked.call = call;
    *slot_of(known, &known->asked) = known->asked;
    known->count++;
}
