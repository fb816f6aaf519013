/* SPDX-License-Identifier: MIT */
#include "base/containers/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNT = 5000 };

struct thing {
    char name[5];
    uint64_t wide;
    uint32_t narrow, before;
};

static int by_wide(const void *left, const void *right)
{
    const struct thing *a = left, *b = right;
    if (a->wide != b->wide)
        return a->wide < b->wide ? -1 : 1;
    return a->before < b->before ? -1 : 1;
}

static struct thing *make_things(uint64_t mask)
{
    static struct thing things[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        uint64_t random_bits = (uint64_t)random() << 40 ^ (uint64_t)random() << 20;
        things[i] = (struct thing){"abcd", random_bits & mask, (uint32_t)random_bits & 63, i};
    }
    return things;
}

static void assert_sorted_as_by_comparing(uint64_t mask)
{
    static struct thing expected[COUNT];
    struct thing *things = make_things(mask);
    memcpy(expected, things, sizeof(expected));
    qsort(expected, COUNT, sizeof(*expected), by_wide);
    assert_int_equal(SORT_BY(things, COUNT, wide), 0);
    assert_memory_equal(things, expected, sizeof(expected));
    assert_int_equal(SORT_BY(things, COUNT, wide), 0);
    assert_memory_equal(things, expected, sizeof(expected));
}

static void every_byte_counts_and_equal_ones_keep_their_order(void **state)
{
    (void)state;
    assert_sorted_as_by_comparing(UINT64_MAX);
    assert_sorted_as_by_comparing(UINT64_C(0xff000000000000ff));
    assert_sorted_as_by_comparing(0x3f00);
    assert_sorted_as_by_comparing(0);
}

static void narrow_keys_do_not_reach_into_their_neighbours(void **state)
{
    (void)state;
    struct thing *things = make_things(UINT64_MAX);
    assert_int_equal(SORT_BY(things, COUNT, narrow), 0);
    for (size_t i = 1; i < COUNT; i++) {
        assert_true(things[i - 1].narrow <= things[i].narrow);
        if (things[i - 1].narrow == things[i].narrow)
            assert_true(things[i - 1].before < things[i].before);
    }
}

static int later_first(const void *left, const void *right)
{
    const struct thing *a = left, *b = right;
    return (a->before < b->before) - (a->before > b->before);
}

static void equal_ones_are_in_the_order_that_is_asked_for(void **state)
{
    (void)state;
    struct thing *things = make_things(0x3f00);
    assert_int_equal(SORT_BY_THEN(things, COUNT, wide, later_first), 0);
    for (size_t i = 1; i < COUNT; i++) {
        assert_true(things[i - 1].wide <= things[i].wide);
        if (things[i - 1].wide == things[i].wide)
            assert_true(things[i - 1].before > things[i].before);
    }
}

static void nothing_is_sorted(void **state)
{
    (void)state;
    struct thing *things = NULL;
    assert_int_equal(SORT_BY(things, 0, wide), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_counts_and_equal_ones_keep_their_order),
        cmocka_unit_test(narrow_keys_do_not_reach_into_their_neighbours),
        cmocka_unit_test(equal_ones_are_in_the_order_that_is_asked_for),
        cmocka_unit_test(nothing_is_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
