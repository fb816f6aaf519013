/* SPDX-License-Identifier: MIT */
/*
 * Results of earlier caller searches. Samples hit the same loops again and again: the frame of a
 * function at a PC, and the call before a return address, depend on the code alone. Stack words are
 * read anew in each search.
 *
 * The cache also bounds the work of hostile stacks and code, as of a chain of frame pointers with a
 * search through 16 KiB for each of 4000 frames.
 */
#pragma once

#include "base/containers/two_way_cache.h"
#include "unwind/arch/machine_code.h"
#include "unwind/code/evidence.h"

#include <stdbool.h>
#include <stdint.h>

struct caller_cache { /* zeros: empty */
    struct two_way_cache frames, calls;
    size_t looked_at_bytes; /* of code and stack, beyond the share of each walk */
    bool is_spent;          /* until the next walk */
};

/* A PC, or a return address, with the start of the function called. */
struct caller_cache_key {
    uint64_t generation; /* of the code; changes with every mapping and every image read; not 0 */
    uint64_t avma;
    uint64_t start_avma; /* the highest bit: of a search at the place given by the prologue */
};

void caller_cache_free(struct caller_cache *cache);

/* Every function takes NULL for the cache: nothing is found or kept, and work has no bound. */

void caller_cache_begin_walk(struct caller_cache *cache);
/* False: searches have looked at enough, up to the end of the walk. */
bool caller_cache_may_look(struct caller_cache *cache, size_t bytes);

bool caller_cache_find_frame(const struct caller_cache *cache, const struct caller_cache_key *key,
                             struct code_frame *frame);
void caller_cache_keep_frame(struct caller_cache *cache, const struct caller_cache_key *key,
                             const struct code_frame *frame);

bool caller_cache_find_call(const struct caller_cache *cache, const struct caller_cache_key *key,
                            enum caller_evidence *evidence);
void caller_cache_keep_call(struct caller_cache *cache, const struct caller_cache_key *key,
                            enum caller_evidence evidence);
