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
static void mix(struct known_stack *stack, uint64_t word)
{
    uint64_t a = (stack->hash[0] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t b = (stack->hash[1] + word) * UINT64_C(0xd6e8feb86659fd93);
    stack->hash[0] = a ^ a >> 29;
    stack->hash[1] = b ^ b >> 32;
}

static struct known_stack identify(const struct perfdata_event *sample,
                                   const struct known_place *place)
{
    struct known_stack stack = {.hash = {sample->callchain_count, sample->attr_index}};
    mix(&stack, (uint64_t)place->process << 32 | sample->misc);
    mix(&stack, place->map->generation);
    mix(&stack, place->kernel->generation);
    for (size_t i = 0; i < sample->callchain_count; i++)
        mix(&stack, sample->callchain[i]);
    stack.hash[0] = hash_word(stack.hash[0]);
    stack.hash[1] = hash_word(stack.hash[1]);
    return stack;
}

/* The slot of a stack, or the empty one where it belongs. */
static struct known_stack *slot_of(const struct known_stacks *known,
                                   const struct known_stack *stack)
{
    size_t mask = known->slot_count - 1;
    for (size_t at = stack->hash[0] & mask;; at = (at + 1) & mask) {
        struct known_stack *slot = &known->slots[at];
        if (!slot->is_used || (slot->hash[0] == stack->hash[0] && slot->hash[1] == stack->hash[1]))
            return slot;
    }
}

bool known_stacks_find(struct known_stacks *known, const struct perfdata_event *sample,
                       const struct known_place *place, uint32_t *call)
{
    known->asked.is_used = false;
    if (sample->callchain_count == 0 || sample->user_registers_mask || sample->branch_count)
        return false;
    known->asked = identify(sample, place);
    known->asked.is_used = true;
    const struct known_stack *slot = known->slot_count ? slot_of(known, &known->asked) : NULL;
    if (!slot || !slot->is_used)
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
        if (known->slots[i].is_used)
            *slot_of(&grown, &known->slots[i]) = known->slots[i];
    free(known->slots);
    known->slots = grown.slots;
    known->slot_count = grown.slot_count;
    return true;
}

void known_stacks_add(struct known_stacks *known, uint32_t call)
{
    if (!known->asked.is_used || (known->count * 2 >= known->slot_count && !grow(known)))
        return;
    known->asked.call = call;
    *slot_of(known, &known->asked) = known->asked;
    known->count++;
}
