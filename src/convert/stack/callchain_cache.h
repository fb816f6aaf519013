/* SPDX-License-Identifier: MIT */
/*
 * Callchains with their calls: programs repeat stacks, and a lookup of a whole callchain is cheaper
 * than two lookups for each frame. A callchain keeps its meaning as long as the mappings stay: a
 * call belongs to a callchain and the generations of the maps.
 *
 * The table is larger than the processor's caches. So the hash is computed at reading, and the slot
 * is prefetched a few samples before the lookup:
 *
 *     read ─ hash ─▶ queued ─ prefetch ─▶ … ─ find ─▶ call
 *
 * Callchains are not compared: comparing takes 8 to 24 % of the loading time. Instead, the hash has
 * a random key, and a file cannot contain prepared collisions. By chance, a file in 300 000, each
 * with ten million callchains, has a collision.
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
    struct cached_callchain last; /* of the last lookup */
};

void callchain_cache_init(struct callchain_cache *cache);
void callchain_cache_free(struct callchain_cache *cache);

struct callchain_context { /* state behind the meaning of a callchain */
    uint32_t process;
    const struct address_map *map, *kernel;
};

/* The hash of a sample's stack; never 0. */
uint64_t callchain_cache_hash(const struct callchain_cache *cache,
                              const struct perfdata_stack *stack,
                              const struct perfdata_record *record);

/* Announces the lookup of a hash. */
void callchain_cache_prefetch(const struct callchain_cache *cache, uint64_t hash);

/* Whether the callchain is cached in this context; sets *call. */
bool callchain_cache_find(struct callchain_cache *cache, uint64_t hash,
                          const struct callchain_context *context, uint32_t *call);

/* Adds the call of the callchain of the last, failed lookup, replacing a call from an earlier
 * state of the process; ignores lack of memory. */
void callchain_cache_add(struct callchain_cache *cache, uint32_t call);
