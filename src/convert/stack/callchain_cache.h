/* SPDX-License-Identifier: MIT */
/*
 * Callchains that were seen before, and the calls that they are: programs are in the same places again and
 * again, and one lookup of a whole chain is cheaper than two for each of its frames. A chain means the
 * same as long as the same is mapped: a call is that of a chain and of the generations of the maps.
 *
 * The table is larger than the processor's caches. So a sample's hash is made where it is read, and where its
 * lookup will be is fetched some samples before its turn:
 *
 *     read ─ hash ─▶ waits for its turn ─ expect ─▶ … ─ find ─▶ call
 *
 * Chains are not compared, which costs 8 to 24 % of the time of loading. Instead the hash has a random
 * key, without which no two chains of one hash can be made up. By chance, one of 300 000 files with ten
 * million chains each has such a pair.
 */
#pragma once

#include "convert/maps/address_map.h"
#include "perfdata/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cached_callchain {
    uint64_t hash;    /* stands for the chain, see below; 0: the slot is free */
    uint32_t context; /* a state of a process */
    uint32_t call;
};

struct callchain_cache {
    uint64_t key[2];
    struct cached_callchain *slots; /* at most half of them used */
    size_t slot_count, count;
    struct cached_callchain last; /* the one asked for last */
};

void callchain_cache_init(struct callchain_cache *cache);
void callchain_cache_free(struct callchain_cache *cache);

struct callchain_context { /* what tells what a chain means */
    uint32_t process;
    const struct address_map *map, *kernel;
};

/* Of a sample that is nothing but a callchain; 0: it is not. */
uint64_t callchain_cache_hash(const struct callchain_cache *cache,
                              const struct perfdata_event *sample);

/* That a hash will be looked up soon. */
void callchain_cache_prefetch(const struct callchain_cache *cache, uint64_t hash);

/* Whether the chain is known in this place: *call is what it was. */
bool callchain_cache_find(struct callchain_cache *cache, uint64_t hash,
                          const struct callchain_context *context, uint32_t *call);

/* Remembers the call of the chain that was just not found, in place of what it was in an earlier state of its
 * process; does nothing when memory is out. */
void callchain_cache_add(struct callchain_cache *cache, uint32_t call);
