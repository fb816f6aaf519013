/* SPDX-License-Identifier: MIT */
#include "convert/known_stacks.h"

#include "base/hash.h"

#include <stdlib.h>

void known_stacks_free(struct known_stacks *known)
{
    free(known->slots);
    *known = (struct known_stacks){0};
}

/* Two independent mixes, which the processor runs side by side. */
struct mix {
    uint64_t a, b;
};

static void mix(struct mix *mix, uint64_t word)
{
    uint64_t a = (mix->a ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t b = (mix->b + word) * UINT64_C(0xd6e8feb86659fd93);
    mix->a = a ^ a >> 29;
    mix->b = b ^ b >> 32;
}

static struct known_stack identify(const struct perfdata_event *sample,
                                   const struct known_place *place)
{
    struct mix words = {sample->callchain_count, sample->attr_index};
    mix(&words, (uint64_t)place->process << 32 | sample->misc);
    mix(&words, place->map->generation);
    mix(&words, place->kernel->generation);
    for (size_t i = 0; i < sample->callchain_count; i++)
        mix(&words, sample->callchain[i]);
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
