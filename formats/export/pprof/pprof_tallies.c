/* SPDX-License-Identifier: MIT */
#include "export/pprof/pprof_tallies.h"

#include "base/containers/array.h"

#include <errno.h>
#include <stdlib.h>

int pprof_tallies_open(struct pprof_tallies *tallies)
{
    *tallies = (struct pprof_tallies){.stacks = intern_new()};
    return tallies->stacks ? 0 : -ENOMEM;
}

void pprof_tallies_close(struct pprof_tallies *tallies)
{
    intern_free(tallies->stacks);
    free(tallies->first);
    free(tallies->tallies);
    *tallies = (struct pprof_tallies){0};
}

/* Where the stack's tallies begin; NULL: out of memory. */
static uint32_t *first_of(struct pprof_tallies *tallies, const struct pprof_stack *stack)
{
    uint32_t index = intern_add(tallies->stacks, stack, sizeof(*stack));
    if (index == INTERN_NONE)
        return NULL;
    if (index < tallies->stack_count)
        return &tallies->first[index];
    uint32_t *first = ARRAY_PUSH(tallies->first, tallies->stack_count, tallies->stack_capacity);
    if (first)
        *first = PROFILE_NONE;
    return first;
}

/* The tally of an event in a list; NULL: none. */
static struct pprof_tally *find(struct pprof_tallies *tallies, uint32_t at, uint32_t event)
{
    for (; at != PROFILE_NONE; at = tallies->tallies[at].next)
        if (tallies->tallies[at].event == event)
            return &tallies->tallies[at];
    return NULL;
}

static struct pprof_tally *push(struct pprof_tallies *tallies, uint32_t *first, uint32_t event)
{
    struct pprof_tally *tally =
        ARRAY_PUSH(tallies->tallies, tallies->tally_count, tallies->tally_capacity);
    if (!tally)
        return NULL;
    *tally = (struct pprof_tally){.event = event, .next = *first};
    *first = (uint32_t)tallies->tally_count - 1;
    return tally;
}

static int add(struct pprof_tallies *tallies, const struct pprof_stack *stack,
               const struct profile_sample *sample)
{
    uint32_t *first = first_of(tallies, stack);
    if (!first)
        return -ENOMEM;
    struct pprof_tally *tally = find(tallies, *first, sample->event);
    if (!tally)
        tally = push(tallies, first, sample->event);
    if (!tally)
        return -ENOMEM;
    tally->count += sample->count;
    tally->weight += sample->weight;
    return 0;
}

int pprof_tallies_add(struct pprof_tallies *tallies, const struct profile_sample *sample)
{
    const struct pprof_stack stack = {sample->call, sample->thread, sample->cpu, 0};
    return add(tallies, &stack, sample);
}

int pprof_tallies_move(struct pprof_tallies *tallies, const struct profile_sample *sample,
                       uint32_t object)
{
    struct pprof_stack stack = {sample->call, sample->thread, sample->cpu, 0};
    uint32_t index = intern_find(tallies->stacks, &stack, sizeof(stack));
    struct pprof_tally *tally =
        index == INTERN_NONE ? NULL : find(tallies, tallies->first[index], sample->event);
    if (!tally || tally->count < sample->count || tally->weight < sample->weight)
        return 0; /* left out of the profile */
    tally->count -= sample->count;
    tally->weight -= sample->weight;
    stack.object = object;
    return add(tallies, &stack, sample);
}

const struct pprof_stack *pprof_tallies_stack(const struct pprof_tallies *tallies, uint32_t index)
{
    return intern_bytes(tallies->stacks, index, NULL);
}

void pprof_tallies_values(const struct pprof_tallies *tallies, uint32_t index, uint32_t main_event,
                          uint64_t *values)
{
    for (uint32_t at = tallies->first[index]; at != PROFILE_NONE; at = tallies->tallies[at].next) {
        const struct pprof_tally *tally = &tallies->tallies[at];
        if (tally->event == main_event)
            values[0] = tally->count;
        values[1 + tally->event] = tally->weight;
    }
}
