/* SPDX-License-Identifier: MIT */
#include "convert/stack/callchain_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { CHAINS = 5000, DEPTH = 3 };

static uint64_t hash_of(uint32_t pid, uint64_t leaf, size_t count)
{
    const uint64_t chain[DEPTH] = {leaf, 0x401000, 0x402000};
    const struct perfdata_stack stack = {
        .pid = pid, .words = (const uint8_t *)chain, .count = count};
    return callchain_cache_hash(&(struct callchain_cache){0}, &stack, &(struct perfdata_record){0});
}

static void assert_is(struct callchain_cache *cache, uint64_t hash,
                      const struct callchain_context *context, uint32_t expected)
{
    uint32_t call = UINT32_MAX;
    callchain_cache_prefetch(cache, hash);
    assert_true(callchain_cache_find(cache, hash, context, &call));
    assert_int_equal(call, expected);
}

static void assert_is_new(struct callchain_cache *cache, uint64_t hash,
                          const struct callchain_context *context, uint32_t call)
{
    uint32_t found;
    assert_false(callchain_cache_find(cache, hash, context, &found));
    callchain_cache_add(cache, call);
    assert_is(cache, hash, context, call);
}

static void each_chain_has_its_call(void **state)
{
    (void)state;
    struct callchain_cache cache = {0};
    struct address_map map = {0}, kernel = {0};
    const struct callchain_context context = {1, &map, &kernel};
    for (uint32_t i = 0; i < CHAINS; i++)
        for (uint32_t count = 1; count <= DEPTH; count++)
            assert_is_new(&cache, hash_of(7, i, count), &context, i * DEPTH + count);
    for (uint32_t i = 0; i < CHAINS; i++)
        for (uint32_t count = 1; count <= DEPTH; count++)
            assert_is(&cache, hash_of(7, i, count), &context, i * DEPTH + count);
    callchain_cache_free(&cache);
}

/* A pid is used again, and what is mapped changes: most often with numbers as small as these. */
static void a_chain_means_something_else_in_every_other_place(void **state)
{
    (void)state;
    struct callchain_cache cache = {0};
    struct address_map map = {0}, kernel = {0};
    uint64_t hash = hash_of(7, 1, DEPTH);
    uint32_t call = 0;
    for (uint32_t process = 0; process < 20; process++)
        for (map.generation = 0; map.generation < 20; map.generation++)
            for (kernel.generation = 0; kernel.generation < 20; kernel.generation++)
                assert_is_new(&cache, hash, &(struct callchain_context){process, &map, &kernel},
                              call++);
    assert_int_equal(cache.count, 1); /* what was before is not kept */
    callchain_cache_free(&cache);
}

/*
 * The hash multiplies two words at a time, each combined with what came before. Where that combination
 * is 0 for the first, the second has no effect: it can be computed for a hash without a key.
 */
static void chains_that_are_made_up_for_one_hash_differ(void **state)
{
    (void)state;
    const uint64_t a = UINT64_C(0xff51afd7ed558ccd), b = UINT64_C(0xc4ceb9fe1a85ec53);
    uint64_t count = 4, annihilator = a * (b ^ count << 32) ^ UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t chains[][4] = {{annihilator, 1, 5, 6}, {annihilator, 2, 5, 6}};
    struct callchain_cache cache, other = {.key = {1, 2}};
    callchain_cache_init(&cache);
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        const struct perfdata_stack stack = {.words = (const uint8_t *)chains[i], .count = count};
        const struct perfdata_record record = {0};
        hashes[i] = callchain_cache_hash(&cache, &stack, &record);
        assert_int_not_equal(hashes[i], callchain_cache_hash(&other, &stack, &record));
    }
    assert_int_not_equal(hashes[0], hashes[1]);
    callchain_cache_free(&cache);
}

static void samples_without_a_hash_are_not_cached(void **state)
{
    (void)state;
    struct callchain_cache cache = {0};
    struct address_map map = {0};
    uint32_t call;
    assert_false(
        callchain_cache_find(&cache, 0, &(struct callchain_context){0, &map, &map}, &call));
    callchain_cache_add(&cache, 1);
    assert_int_equal(cache.count, 0);
    callchain_cache_free(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_chain_has_its_call),
        cmocka_unit_test(a_chain_means_something_else_in_every_other_place),
        cmocka_unit_test(chains_that_are_made_up_for_one_hash_differ),
        cmocka_unit_test(samples_without_a_hash_are_not_cached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
