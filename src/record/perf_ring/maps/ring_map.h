/* SPDX-License-Identifier: MIT */
/*
 * The map of a process without a sampler, kept up to date by the MMAP2 records of the kernel. No
 * record reports an unmapping: a later mapping replaces what lay at the same addresses.
 */
#pragma once

#include "record/perf_ring/ring_modules.h"

#include <stdbool.h>

/* An empty map with one user. NULL: out of memory. */
struct process_map *ring_map_new(void);

/* Copies the map for a forked child. NULL: out of memory. */
struct process_map *ring_map_copy(const struct process_map *map);

/* Enters a mapping and takes over its path and module; parts of older mappings below are removed.
 * -ENOMEM, or -E2BIG beyond the budget: path and module are released. */
int ring_map_put(struct process_map *map, const struct process_mapping *mapping);

/* Whether the map has exactly this mapping; map may be NULL. */
bool ring_map_has(const struct process_map *map, const struct process_mapping *mapping);
