/* SPDX-License-Identifier: MIT */
#include "unwind/code/caller_cache.h"

enum { ENTRIES_MAX = 1 << 13 }; /* of each kind: 1 MiB together */
/* A walk's share is four searches without a result; the first walks find nothing in the cache, and
 * may use AHEAD_BYTES_MAX beyond their share. */
enum { WALK_BYTES = 64 << 10, AHEAD_BYTES_MAX = 1 << 20 };

struct known_frame {
    struct two_way_cache_key hash;
    struct caller_cache_key key;
    struct code_frame frame;
};

struct known_call {
    struct two_way_cache_key hash;
    struct caller_cache_key key;
    enum caller_evidence evidence;
};

static struct two_way_cache_key hash_of(const struct caller_cache_key *key)
{
    return (struct two_way_cache_key){key->generation, key->avma ^ hash_word(key->start_avma)};
}

/* Different keys may have the same hash. */
static bool is_same(const struct caller_cache_key *a, const struct caller_cache_key *b)
{
    return a->avma == b->avma && a->start_avma == b->start_avma;
}

void caller_cache_free(struct caller_cache *cache)
{
    two_way_cache_free(&cache->frames);
    two_way_cache_free(&cache->calls);
}

void caller_cache_begin_walk(struct caller_cache *cache)
{
    if (!cache)
        return;
    cache->is_spent = false;
    cache->looked_at_bytes -=
        cache->looked_at_bytes < WALK_BYTES ? cache->looked_at_bytes : WALK_BYTES;
}

bool caller_cache_may_look(struct caller_cache *cache, size_t bytes)
{
    if (!cache)
        return true;
    cache->is_spent |= bytes > AHEAD_BYTES_MAX - cache->looked_at_bytes;
    cache->looked_at_bytes += cache->is_spent ? 0 : bytes;
    return !cache->is_spent;
}

bool caller_cache_find_frame(const struct caller_cache *cache, const struct caller_cache_key *key,
                             struct code_frame *frame)
{
    const struct known_frame *known =
        cache ? two_way_cache_find(&cache->frames, sizeof(*known), hash_of(key)) : NULL;
    if (!known || !is_same(&known->key, key))
        return false;
    *frame = known->frame;
    return true;
}

void caller_cache_keep_frame(struct caller_cache *cache, const struct caller_cache_key *key,
                             const struct code_frame *frame)
{
    struct known_frame *made =
        cache ? two_way_cache_add(&cache->frames, sizeof(*made), ENTRIES_MAX, hash_of(key)) : NULL;
    if (!made)
        return;
    made->key = *key;
    made->frame = *frame;
}

bool caller_cache_find_call(const struct caller_cache *cache, const struct caller_cache_key *key,
                            enum caller_evidence *evidence)
{
    const struct known_call *known =
        cache ? two_way_cache_find(&cache->calls, sizeof(*known), hash_of(key)) : NULL;
    if (!known || !is_same(&known->key, key))
        return false;
    *evidence = known->evidence;
    return true;
}

void caller_cache_keep_call(struct caller_cache *cache, const struct caller_cache_key *key,
                            enum caller_evidence evidence)
{
    struct known_call *made =
        cache ? two_way_cache_add(&cache->calls, sizeof(*made), ENTRIES_MAX, hash_of(key)) : NULL;
    if (!made)
        return;
    made->key = *key;
    made->evidence = evidence;
}
