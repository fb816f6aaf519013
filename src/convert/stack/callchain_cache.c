/* SPDX-License-Identifier: MIT */
#include "convert/stack/callchain_cache.h"

#include "base/containers/hash.h"
#include "base/containers/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* Keyed by AT_RANDOM, 16 random bytes from the kernel for each new program. */
void callchain_cache_init(struct callchain_cache *cache)
{
    *cache = (struct callchain_cache){0};
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (random)
        memcpy(cache->key, random, sizeof(cache->key));
}

void callchain_cache_free(struct callchain_cache *cache)
{
    free(cache->slots);
    *cache = (struct callchain_cache){0};
}

struct mix {
    uint64_t a, b;
};

/* Two words at once: both halves of a product. To make a factor small takes the key. */
static inline void mix(struct mix *mix, uint64_t first, uint64_t second)
{
    unsigned __int128 product = (unsigned __int128)(mix->a ^ first) * (mix->b ^ second);
    mix->a = (uint64_t)product ^ UINT64_C(0x9e3779b97f4a7c15);
    mix->b += (uint64_t)(product >> 64) ^ UINT64_C(0xd6e8feb86659fd93);
}

/* Words lie in a record of the file, at any alignment. */
static uint64_t word_at(const struct perfdata_stack *stack, size_t index)
{
    uint64_t word;
    memcpy(&word, stack->words + index * sizeof(word), sizeof(word));
    return word;
}

/* 0 means no stack: the lowest bit is always set. Of two stacks with the same hash, one would
 * get the call of the other; no file can provoke this without the key. */
uint64_t callchain_cache_hash(const struct callchain_cache *cache,
                              const struct perfdata_stack *stack,
                              const struct perfdata_record *record)
{
    struct mix words = {cache->key[0] ^ UINT64_C(0xff51afd7ed558ccd),
                        cache->key[1] ^ UINT64_C(0xc4ceb9fe1a85ec53)};
    struct mix others = {words.b, words.a};
    size_t count = stack->count, i = 0;
    mix(&words, (uint64_t)stack->pid << 32 | record->misc,
        (uint64_t)count << 32 | record->attr_index);
    for (; count - i >= 4; i += 4) { /* two independent products overlap in the pipeline */
        mix(&words, word_at(stack, i), word_at(stack, i + 1));
        mix(&others, word_at(stack, i + 2), word_at(stack, i + 3));
    }
    for (; i < count; i++)
        mix(&words, word_at(stack, i), 0);
    mix(&words, others.a, others.b);
    return hash_word(words.a ^ hash_word(words.b)) | 1;
}

/* Computed per sample; distinguishes the few states of a process. */
static uint32_t hash_place(const struct callchain_context *context)
{
    uint64_t hash = context->process * UINT64_C(0x9e3779b97f4a7c15) + context->map->generation;
    hash = hash * UINT64_C(0xd6e8feb86659fd93) + context->kernel->generation;
    return (uint32_t)(hash * UINT64_C(0xff51afd7ed558ccd) >> 32);
}

/* The lowest bit is set in all. */
static size_t first_slot(const struct callchain_cache *cache, uint64_t hash)
{
    return hash >> 1 & (cache->slot_count - 1);
}

void callchain_cache_prefetch(const struct callchain_cache *cache, uint64_t hash)
{
    if (cache->slot_count)
        __builtin_prefetch(&cache->slots[first_slot(cache, hash)]);
}

/* The slot of a callchain, or the empty slot for it. */
static struct cached_callchain *slot_of(const struct callchain_cache *cache, uint64_t hash)
{
    size_t at = first_slot(cache, hash);
    while (cache->slots[at].hash && cache->slots[at].hash != hash)
        at = (at + 1) & (cache->slot_count - 1);
    return &cache->slots[at];
}

bool callchain_cache_find(struct callchain_cache *cache, uint64_t hash,
                          const struct callchain_context *context, uint32_t *call)
{
    cache->last = (struct cached_callchain){.hash = hash};
    /* A record without a stack to be cached. */
    if (hash == 0)
        return false;
    cache->last.context = hash_place(context);
    const struct cached_callchain *slot = cache->slot_count ? slot_of(cache, hash) : NULL;
    if (!slot || slot->hash == 0 || slot->context != cache->last.context)
        return false;
    *call = slot->call;
    return true;
}

/* At most half full, so searches are short and always end. */
static bool grow(struct callchain_cache *cache)
{
    struct callchain_cache grown = {.slot_count = cache->slot_count ? cache->slot_count * 2 : 1024};
    grown.slots = table_new(grown.slot_count, sizeof(*grown.slots));
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < cache->slot_count; i++)
        if (cache->slots[i].hash)
            *slot_of(&grown, cache->slots[i].hash) = cache->slots[i];
    free(cache->slots);
    cache->slots = grown.slots;
    cache->slot_count = grown.slot_count;
    return true;
}

void callchain_cache_add(struct callchain_cache *cache, uint32_t call)
{
    if (cache->last.hash == 0 || (cache->count * 2 >= cache->slot_count && !grow(cache)))
        return;
    struct cached_callchain *slot = slot_of(cache, cache->last.hash);
    cache->count += slot->hash == 0;
    cache->last.call = call;
    *slot = cache->last;
}
