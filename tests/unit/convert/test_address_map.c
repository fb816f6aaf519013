/* SPDX-License-Identifier: MIT */
#include "convert/maps/address_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* The oracle keeps, for each address, what was mapped there last. */
static void what_was_mapped_last_is_found_at_every_address(void **state)
{
    (void)state;
    enum { END = 400 };
    srandom(1);
    for (int round = 0; round < 300; round++) {
        struct address_map map = {0};
        struct {
            uint32_t module;
            uint64_t offset;
        } oracle[END] = {{0}};
        for (uint32_t module = 1; module < 30; module++) {
            uint64_t start = (uint64_t)random() % (END - 100);
            struct mapping mapping = {.start_avma = start,
                                      .end_avma = start + (uint64_t)random() % 100,
                                      .file_offset = 1000 * module,
                                      .module = module};
            assert_int_equal(address_map_add(&map, &mapping), 0);
            for (uint64_t avma = start; avma < mapping.end_avma; avma++) {
                oracle[avma].module = module;
                oracle[avma].offset = mapping.file_offset + (avma - start);
            }
        }
        for (uint64_t avma = 0; avma < END; avma++) {
            const struct mapping *found = address_map_find(&map, avma);
            assert_int_equal(found ? found->module : 0, oracle[avma].module);
            if (found)
                assert_int_equal(found->file_offset + (avma - found->start_avma),
                                 oracle[avma].offset);
        }
        address_map_free(&map);
    }
}

/* As many as several blocks hold; the oracle is the same. */
static void thousands_of_mappings_are_found(void **state)
{
    (void)state;
    enum { END = 20000, MAPPINGS = 6000 };
    static uint32_t oracle[END];
    struct address_map map = {0}, copy = {0};
    srandom(2);
    for (uint32_t module = 1; module <= MAPPINGS; module++) {
        /* Rarely one that takes the place of hundreds. */
        uint64_t bytes = module % 500 == 0 ? 5000 : 1 + (uint64_t)random() % 4;
        uint64_t start = (uint64_t)random() % (END - bytes);
        struct mapping mapping = {
            .start_avma = start, .end_avma = start + bytes, .file_offset = start, .module = module};
        assert_int_equal(address_map_add(&map, &mapping), 0);
        for (uint64_t avma = start; avma < mapping.end_avma; avma++)
            oracle[avma] = module;
    }
    assert_true(map.block_count > 4);
    assert_int_equal(address_map_copy(&copy, &map), 0);
    assert_int_equal(copy.count, map.count);
    address_map_free(&map);
    size_t mappings = 0;
    const struct mapping *before = NULL;
    for (uint64_t avma = 0; avma < END; avma++) {
        const struct mapping *found = address_map_find(&copy, avma);
        assert_int_equal(found ? found->module : 0, oracle[avma]);
        if (found)
            assert_int_equal(found->file_offset, found->start_avma);
        mappings += found && found != before;
        before = found;
    }
    assert_int_equal(mappings, copy.count);
    address_map_free(&copy);
}

static void a_hole_takes_what_it_covers(void **state)
{
    (void)state;
    struct address_map map = {0};
    address_map_add(&map, &(struct mapping){.start_avma = 10, .end_avma = 40, .module = 1});
    address_map_add(
        &map, &(struct mapping){.start_avma = 20, .end_avma = 30, .module = ADDRESS_MAP_HOLE});
    assert_int_equal(address_map_find(&map, 19)->module, 1);
    assert_null(address_map_find(&map, 20));
    assert_int_equal(address_map_find(&map, 30)->module, 1);
    address_map_free(&map);
}

static void a_thousand_execs_leave_no_more_than_one(void **state)
{
    (void)state;
    struct address_map map = {0};
    for (uint64_t i = 1; i <= 1000; i++) {
        address_map_exec(&map);
        address_map_add(&map, &(struct mapping){.start_avma = 100 * i, .end_avma = 100 * i + 50});
        assert_non_null(address_map_find(&map, 100 * i));
        assert_true(i == 1 || address_map_find(&map, 100 * i - 100));
        assert_true(map.count <= 2);
    }
    address_map_forget_former(&map);
    assert_int_equal(map.count, 1);
    assert_non_null(address_map_find(&map, 100000));
    address_map_free(&map);
}

static void a_copy_is_independent(void **state)
{
    (void)state;
    struct address_map parent = {0}, child = {0};
    assert_int_equal(address_map_copy(&child, &parent), 0);
    address_map_add(&parent, &(struct mapping){.start_avma = 10, .end_avma = 20, .module = 1});
    assert_int_equal(address_map_copy(&child, &parent), 0);
    address_map_free(&parent);
    assert_null(address_map_find(&parent, 15));
    assert_int_equal(address_map_find(&child, 15)->module, 1);
    address_map_free(&child);
}

static void empty_and_wrapping_mappings_are_left_out(void **state)
{
    (void)state;
    struct address_map map = {0};
    assert_int_equal(address_map_add(&map, &(struct mapping){.start_avma = 10, .end_avma = 10}), 0);
    assert_int_equal(address_map_add(&map, &(struct mapping){.start_avma = 10, .end_avma = 5}), 0);
    assert_int_equal(map.count, 0);
    assert_null(address_map_find(&map, 10));
    address_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_mapped_last_is_found_at_every_address),
        cmocka_unit_test(thousands_of_mappings_are_found),
        cmocka_unit_test(a_hole_takes_what_it_covers),
        cmocka_unit_test(a_thousand_execs_leave_no_more_than_one),
        cmocka_unit_test(a_copy_is_independent),
        cmocka_unit_test(empty_and_wrapping_mappings_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
