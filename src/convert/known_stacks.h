/* SPDX-License-Identifier: MIT */
/*
 * Callchains that were seen before, and the calls that they are: programs are in the same places again and
 * again, and one lookup of a whole chain is cheaper than two for each of its frames. A chain means the
 * same as long as the same is mapped; the generations of the maps are part of the key.
 */
#pragma once

#include "convert/address_map.h"
#include "perfdata/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_stack { /* small: they are looked up at random, and should lie in the caches */
    uint64_t hash; /* with the next, stands for the chain: two that differ and agree in 96 bits … */
    uint32_t check; /* … do not come up; 0: an empty slot */
    uint32_t call;
};

struct known_stacks {
    struct known_stack *slots; /* at most half of them used */
    size_t slot_count, count;
    struct known_stack asked; /* the one asked for last; empty: it cannot be known */
};

void known_stacks_free(struct known_stacks *known);

struct known_place { /* what tells what a chain means */
    uint32_t process;
    const struct address_map *map, *kernel;
};

/* Whether the sample is nothing but a callchain, and that one is known: *call is what it was. */
bool known_stacks_find(struct known_stacks *known, const struct perfdata_event *sample,
                       const struct known_place *place, uint32_t *call);

/* Remembers the call of the chain that was just not found; does nothing when memory is out. */
void known_stacks_add(struct known_stacks *known, uint32_t call);
