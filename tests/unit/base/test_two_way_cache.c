/* SPDX-License-Identifier: MIT */
/* What is found is what was added, for the state that it was added for. */
#include "base/containers/two_way_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { COUNT = 20000, MOST_SLOTS = 1 << 16 };

struct place {
    struct two_way_cache_key key;
    uint32_t id;
};

static struct two_way_cache_key key_of(uint32_t id, uint32_t change)
{
    return (struct two_way_cache_key){1 + change + id % 3, id * 4096ull};
}

static void what_is_found_was_added(void **state)
{
    (void)state;
    struct two_way_cache cache = {0};
    assert_null(two_way_cache_find(&cache, sizeof(struct place), key_of(0, 0)));
    for (uint32_t n = 0; n < 3 * COUNT; n++) { /* as they are asked for again */
        struct place *place =
            two_way_cache_add(&cache, sizeof(*place), MOST_SLOTS, key_of(n % COUNT, 0));
        assert_non_null(place);
        place->id = n % COUNT;
    }
    size_t found = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct place *place = two_way_cache_find(&cache, sizeof(*place), key_of(i, 0));
        assert_true(!place || place->id == i);
        found += place != NULL;
        assert_null(two_way_cache_find(&cache, sizeof(*place), key_of(i, 3)));
    }
    assert_true(found > COUNT / 2);
    assert_true(cache.slot_count <= MOST_SLOTS);
    two_way_cache_clear(&cache, sizeof(struct place));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_null(two_way_cache_find(&cache, sizeof(struct place), key_of(i, 0)));
    two_way_cache_free(&cache);
}

static void a_small_table_forgets_and_never_mistakes(void **state)
{
    (void)state;
    struct two_way_cache cache = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        struct place *place = two_way_cache_add(&cache, sizeof(*place), 512, key_of(i, 0));
        assert_non_null(place);
        place->id = i;
    }
    assert_int_equal(cache.slot_count, 512);
    size_t found = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct place *place = two_way_cache_find(&cache, sizeof(*place), key_of(i, 0));
        assert_true(!place || place->id == i);
        found += place != NULL;
    }
    assert_in_range(found, 1, 512);
    two_way_cache_free(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_was_added),
        cmocka_unit_test(a_small_table_forgets_and_never_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
