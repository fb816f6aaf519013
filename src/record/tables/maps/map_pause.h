/* SPDX-License-Identifier: MIT */
/* The pause between two reads of a process's mappings. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MAP_PAUSE_MIN_NS 5000000
#define MAP_PAUSE_MAX_NS 1000000000

/* A program may keep jumping into unmapped code: each read without a new mapping doubles the pause.
 * 0: before the first read. */
static inline uint64_t map_pause_next_ns(uint64_t pause_ns, bool was_fruitful)
{
    if (was_fruitful || 2 * pause_ns < MAP_PAUSE_MIN_NS)
        return MAP_PAUSE_MIN_NS;
    return 2 * pause_ns < MAP_PAUSE_MAX_NS ? 2 * pause_ns : MAP_PAUSE_MAX_NS;
}
