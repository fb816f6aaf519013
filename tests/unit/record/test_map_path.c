/* SPDX-License-Identifier: MIT */
/* Paths of mappings: shared, and bounded for all processes together. */
#include "record/tables/maps/map_path.h"

#include "base/budget.h"
#include "record/procfs/maps/proc_maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { FEW = 64 }; /* mappings of a process */

static int limit_mappings(void **state)
{
    (void)state;
    budget_set(BUDGET_MAPPINGS, FEW);
    return 0;
}

static void add_line(struct proc_maps *maps, unsigned page, const char *path)
{
    char line[128];
    int length = snprintf(line, sizeof(line), "%x000-%x000 r-xp 00000000 08:01 7 %s\n", 2 * page,
                          2 * page + 1, path);
    assert_int_equal(proc_maps_parse(maps, line, (size_t)length), 0);
}

static void mappings_of_one_file_share_its_path(void **state)
{
    (void)state;
    struct proc_maps maps = {0};
    add_line(&maps, 1, "/bin/a");
    add_line(&maps, 2, "/bin/a");
    add_line(&maps, 3, "/bin/ab");
    assert_ptr_equal(maps.mappings[0].path, maps.mappings[1].path);
    assert_string_equal(maps.mappings[2].path, "/bin/ab");
    proc_maps_free(&maps);
}

static void libraries_behind_too_many_mappings_of_one_file_are_kept(void **state)
{
    (void)state;
    struct proc_maps maps = {0};
    for (unsigned i = 1; i <= 3 * FEW; i++)
        add_line(&maps, i, "/bin/a");
    add_line(&maps, 3 * FEW + 1, "/lib/libc.so");
    assert_int_equal(maps.count, FEW + 1);
    assert_int_equal(maps.left_out, 2 * FEW);
    assert_string_equal(maps.mappings[FEW].path, "/lib/libc.so");
    proc_maps_free(&maps);
}

static void mappings_of_different_files_are_bounded_too(void **state)
{
    (void)state;
    struct proc_maps maps = {0};
    for (unsigned i = 1; i <= 3 * FEW; i++)
        add_line(&maps, i, i % 2 ? "/bin/a" : "/bin/b");
    assert_int_equal(maps.count, 2 * FEW);
    assert_int_equal(maps.left_out, FEW);
    proc_maps_free(&maps);
}

/* What is released can be taken again. */
static void all_processes_share_a_budget(void **state)
{
    (void)state;
    char text[4096];
    const char *paths[1024];
    size_t count = 0;
    memset(text, 'x', sizeof(text));
    while (count < 1024 && (paths[count] = map_path_new(text, sizeof(text))))
        count++;
    assert_in_range(count, 1, 1023);
    assert_null(map_path_new(text, sizeof(text)));
    map_path_release(paths[--count]);
    assert_non_null(paths[count++] = map_path_new(text, sizeof(text)));
    while (count > 0)
        map_path_release(paths[--count]);
    const char *path = map_path_new("/a", 2);
    while (map_path_use(path))
        count++;
    assert_in_range(count, FEW, 64 * FEW);
    for (size_t i = 0; i <= count; i++)
        map_path_release(path);
    path = map_path_new("/b", 2);
    assert_string_equal(path, "/b");
    map_path_release(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_of_one_file_share_its_path),
        cmocka_unit_test(libraries_behind_too_many_mappings_of_one_file_are_kept),
        cmocka_unit_test(mappings_of_different_files_are_bounded_too),
        cmocka_unit_test(all_processes_share_a_budget),
    };
    return cmocka_run_group_tests(tests, limit_mappings, NULL);
}
