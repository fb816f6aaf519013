/* SPDX-License-Identifier: MIT */
/*
 * The present executable mappings of a process. A new mapping, or a hole, replaces the mappings
 * below.
 *
 * An exec removes all mappings, but until its return, samples in the kernel still have a caller in
 * the former program. The former mappings therefore stay below the new mappings until the first
 * sample in the new program.
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

#define ADDRESS_MAP_HOLE UINT32_MAX /* an unmapped range */

struct map_block { /* never empty */
    struct mapping *mappings;
    size_t count, capacity;
};

struct address_map {
    struct map_block *blocks; /* sorted, without overlaps, as are their mappings */
    size_t block_count, block_capacity;
    size_t count; /* mappings of all blocks */
    bool has_former;
    uint64_t generation; /* changes with each modification */
};

void address_map_free(struct address_map *map);

/* 0 or -ENOMEM. Ignores mappings of no bytes, and mappings that wrap around. */
int address_map_add(struct address_map *map, const struct mapping *mapping);
int address_map_copy(struct address_map *map, const struct address_map *from);

/* At an exec: the present mappings become the former program's; mappings of an earlier exec are
 * dropped. */
void address_map_exec(struct address_map *map);

/* The new program runs. */
void address_map_forget_former(struct address_map *map);

/* NULL: nothing is mapped there. Valid until the map changes. */
const struct mapping *address_map_find(const struct address_map *map, uint64_t avma);
