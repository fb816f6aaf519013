/* SPDX-License-Identifier: MIT */
/*
 * Where modules' rows lie in the shared memory. That is filled by modules that are made up; the one that needs room is
 * a real one.
 */
#include "record/modules.c"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cmocka.h>

#define PROGRAM TARGETS_DIR "/shares"

struct fixture {
    struct tables *tables;
    struct kept_files kept;
    struct module_store *store;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    fixture->tables = mmap(NULL, sizeof(*fixture->tables), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(fixture->tables, MAP_FAILED);
    assert_int_equal(module_store_open(&fixture->store, fixture->tables, &fixture->kept), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    module_store_close(fixture->store);
    kept_files_free(&fixture->kept);
    munmap(fixture->tables, sizeof(*fixture->tables));
    free(fixture);
    return 0;
}

static struct known_module *add(struct fixture *fixture, uint64_t first, uint64_t end,
                                uint32_t users)
{
    struct module_store *store = fixture->store;
    struct known_module **place = ARRAY_PUSH(store->modules, store->count, store->capacity);
    assert_non_null(place);
    struct known_module *module = *place = calloc(1, sizeof(*module));
    assert_non_null(module);
    module->path = strdup("/made/up");
    module->rows_first = (uint32_t)first;
    module->rows_count = (uint32_t)(end - first);
    module->users = users;
    module->last_use = ++store->uses;
    module->state = MODULE_COMPILED;
    return module;
}

static struct known_module *compile_program(struct fixture *fixture)
{
    struct stat status;
    assert_int_equal(stat(PROGRAM, &status), 0);
    const struct mapped_file file = {.pid = getpid(), .path = PROGRAM, .inode = status.st_ino};
    struct known_module *module = module_store_get(fixture->store, &file);
    assert_non_null(module);
    if (module->state == MODULE_UNREAD)
        module_store_read(fixture->store, module);
    return module;
}

static void rows_lie_in_the_first_gap_that_is_large_enough(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, 800 + 4000, SESSION_ROWS, 1);
    add(fixture, 12, 800, 1);
    add(fixture, 0, 10, 1);
    struct known_module *module = compile_program(fixture);
    assert_int_equal(module->state, MODULE_COMPILED);
    assert_in_range(module->rows_count, 3, 4000);
    assert_int_equal(module->rows_first, 800);
    assert_int_equal(fixture->store->count, 4);
    assert_int_equal(module_store_rows(fixture->store), module->rows_count);
}

static void an_index_takes_room_behind_its_rows(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, 0, 100, 1)->buckets.count = 41;
    assert_int_equal(compile_program(fixture)->rows_first, 100 + 21);
}

/* A test suite of large programs, each run once, fills it within minutes. */
static void what_nobody_uses_makes_room_the_oldest_first(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t half = SESSION_ROWS / 2;
    add(fixture, 0, 100, 1);
    add(fixture, 100, half, 0);
    const struct known_module *newer = add(fixture, half, SESSION_ROWS, 0);
    const struct known_module *module = compile_program(fixture);
    assert_int_equal(module->state, MODULE_COMPILED);
    assert_int_equal(module->rows_first, 100);
    assert_int_equal(fixture->store->count, 3);
    assert_ptr_equal(fixture->store->modules[1], module);
    assert_ptr_equal(fixture->store->modules[2], newer);
}

static void what_is_in_use_stays(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, 0, SESSION_ROWS, 1);
    assert_int_equal(compile_program(fixture)->state, MODULE_NO_ROOM);
    assert_int_equal(fixture->store->count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(rows_lie_in_the_first_gap_that_is_large_enough),
        TEST(an_index_takes_room_behind_its_rows),
        TEST(what_nobody_uses_makes_room_the_oldest_first),
        TEST(what_is_in_use_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
