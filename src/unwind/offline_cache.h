/* SPDX-License-Identifier: MIT */
/*
 * What holds at PCs that were met before: programs are in the same places again and again, and large ones have half a
 * million rows. Two PCs of one slot replace each other. There are more slots when more is asked for: of a large table
 * each page costs two faults, the first for looking and the second, which all threads wait for, for writing.
 */
#pragma once

#include "unwind/module.h"

#include <stddef.h>
#include <stdint.h>

struct offline_place {
    const struct unwind_module *module; /* NULL: no CFI */
    uint64_t bias;
    uint32_t rule;
};

struct offline_cache { /* zeros: empty */
    struct offline_cached *slots;
    size_t slot_count;
    size_t added; /* since there are as many slots */
};

void offline_cache_free(struct offline_cache *cache);

/* generation: of the map, not 0. NULL: not met, or forgotten; valid until the next is added. */
const struct offline_place *offline_cache_find(const struct offline_cache *cache,
                                               uint64_t generation, uint64_t pc);
/* Does nothing when memory is out. */
void offline_cache_add(struct offline_cache *cache, uint64_t generation, uint64_t pc,
                       const struct offline_place *place);
