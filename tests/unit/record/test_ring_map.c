/* SPDX-License-Identifier: MIT */
/* The map of a process, as mappings come and replace each other. */
#include "record/perf_ring/maps/ring_map.h"

#include "base/budget.h"
#include "record/tables/maps/map_path.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int put(struct process_map *map, uint64_t start_avma, uint64_t end_avma, const char *path)
{
    const struct process_mapping mapping = {.start_avma = start_avma,
                                            .end_avma = end_avma,
                                            .file_offset = 0x100000,
                                            .path = map_path_new(path, strlen(path))};
    return ring_map_put(map, &mapping);
}

static void assert_at(const struct process_map *map, uint64_t avma, const char *path,
                      uint64_t file_offset)
{
    const struct process_mapping *found = process_map_find(map, avma);
    if (!path) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found->path, path);
    assert_int_equal(found->file_offset + (avma - found->start_avma), file_offset);
}

static void mappings_are_found_whatever_their_order(void **state)
{
    (void)state;
    struct process_map *map = ring_map_new();
    assert_int_equal(put(map, 0x5000, 0x6000, "b"), 0);
    assert_int_equal(put(map, 0x1000, 0x2000, "a"), 0);
    assert_int_equal(put(map, 0x9000, 0xa000, "c"), 0);
    assert_at(map, 0x1fff, "a", 0x100fff);
    assert_at(map, 0x5000, "b", 0x100000);
    assert_at(map, 0x9000, "c", 0x100000);
    assert_at(map, 0x2000, NULL, 0);
    process_map_release(map);
}

static void a_later_mapping_replaces_what_lay_there(void **state)
{
    (void)state;
    struct process_map *map = ring_map_new();
    put(map, 0x1000, 0x3000, "a");
    put(map, 0x3000, 0x5000, "b");
    put(map, 0x5000, 0x7000, "c");
    assert_int_equal(put(map, 0x2000, 0x6000, "new"), 0);
    assert_int_equal(map->count, 3);
    assert_at(map, 0x1800, "a", 0x100800);
    assert_at(map, 0x2000, "new", 0x100000);
    assert_at(map, 0x5fff, "new", 0x103fff);
    assert_at(map, 0x6000, "c", 0x101000);
    process_map_release(map);
}

static void a_mapping_inside_of_another_leaves_two_parts(void **state)
{
    (void)state;
    struct process_map *map = ring_map_new();
    put(map, 0x1000, 0x9000, "outer");
    assert_int_equal(put(map, 0x4000, 0x5000, "inner"), 0);
    assert_int_equal(map->count, 3);
    assert_at(map, 0x3fff, "outer", 0x102fff);
    assert_at(map, 0x4000, "inner", 0x100000);
    assert_at(map, 0x5000, "outer", 0x104000);
    process_map_release(map);
}

static void a_copy_is_independent(void **state)
{
    (void)state;
    struct process_map *map = ring_map_new();
    put(map, 0x1000, 0x2000, "a");
    struct process_map *copy = ring_map_copy(map);
    put(map, 0x1000, 0x2000, "b");
    assert_at(copy, 0x1000, "a", 0x100000);
    process_map_release(map);
    assert_at(copy, 0x1000, "a", 0x100000);
    process_map_release(copy);
}

static void the_same_mapping_is_recognized(void **state)
{
    (void)state;
    struct process_map *map = ring_map_new();
    put(map, 0x1000, 0x2000, "a");
    struct process_mapping mapping = *process_map_find(map, 0x1000);
    assert_true(ring_map_has(map, &mapping));
    assert_false(ring_map_has(NULL, &mapping));
    mapping.inode++;
    assert_false(ring_map_has(map, &mapping));
    process_map_release(map);
}

static void mappings_beyond_the_budget_are_refused(void **state)
{
    (void)state;
    uint64_t before = budget_amount(BUDGET_MAPPINGS);
    budget_set(BUDGET_MAPPINGS, 2);
    struct process_map *map = ring_map_new();
    assert_int_equal(put(map, 0x1000, 0x2000, "a"), 0);
    assert_int_equal(put(map, 0x3000, 0x4000, "b"), 0);
    assert_int_equal(put(map, 0x5000, 0x6000, "c"), -E2BIG);
    assert_int_equal(map->count, 2);
    process_map_release(map);
    budget_set(BUDGET_MAPPINGS, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_are_found_whatever_their_order),
        cmocka_unit_test(a_later_mapping_replaces_what_lay_there),
        cmocka_unit_test(a_mapping_inside_of_another_leaves_two_parts),
        cmocka_unit_test(a_copy_is_independent),
        cmocka_unit_test(the_same_mapping_is_recognized),
        cmocka_unit_test(mappings_beyond_the_budget_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
