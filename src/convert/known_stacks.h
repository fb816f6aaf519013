/* SPDX-License-Identifier: MIT */
/*
 * Callchains that were seen before, and the calls that they are: programs are in the same places again and
 * again, and one lookup of a whole chain is cheaper than two for each of its frames. A chain means the
 * same as long as the same is mapped; the generations of the maps are part of the key.
 */
#pragma once

#include "base/buffer.h"
#include "base/intern.h"
#include "convert/address_map.h"
#include "perfdata/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct known_stacks {
    struct intern *keys;
    uint32_t *calls; /* by key */
    size_t count, capacity;
    struct buffer key; /* of the chain asked for last */
};

int known_stacks_init(struct known_stacks *known);
void known_stacks_free(struct known_stacks *known);

struct known_place { /* what tells what a chain means */
    uint32_t process;
    const struct address_map *map, *kernel;
};

/* Whether the sample is nothing but a callchain, and that one is known: *call is what it was. */
bool known_stacks_find(struct known_stacks *known, const struct perfdata_event *sample,
                       const struct known_place *place, uint32_t *call);

/* Remembers the call of the chain that was just not found; does nothing when there are too many, or when
 * memory is out. */
void known_stacks_add(struct known_stacks *known, uint32_t call);
