/* SPDX-License-Identifier: MIT */
/*
 * What one process has mapped executable, now. A new mapping, or a hole, replaces what lies below it.
 *
 * An exec takes everything away, but until it returns, samples in the kernel still have a caller in the
 * former program. So that one's mappings stay below the new ones until the new program is seen running.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
    uint64_t start_avma, end_avma; /* [start, end) */
    uint64_t file_offset;          /* of start */
    uint32_t module;               /* index in struct modules, or: */
    bool is_former;                /* of the program before the last exec */
};

#define ADDRESS_MAP_HOLE UINT32_MAX /* what was mapped there is gone */

struct map_block { /* never empty */
    struct mapping *mappings;
    size_t count, capacity;
};

struct address_map {
    struct map_block *blocks; /* sorted, without overlaps, as are their mappings */
    size_t block_count, block_capacity;
    size_t count; /* mappings of all blocks */
    bool has_former;
    uint64_t generation; /* another one after each change */
};

void address_map_free(struct address_map *map);

/* 0 or -ENOMEM. A mapping that is empty or wraps around is left out. */
int address_map_add(struct address_map *map, const struct mapping *mapping);
int address_map_copy(struct address_map *map, const struct address_map *from);

/* An exec: what is mapped is the former program's now, and what that one's exec had left is gone. */
void address_map_exec(struct address_map *map);

/* The new program runs. */
void address_map_forget_former(struct address_map *map);

/* NULL: nothing is mapped there. Valid until the map changes. */
const struct mapping *address_map_find(const struct address_map *map, uint64_t avma);
