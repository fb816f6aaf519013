/* SPDX-License-Identifier: MIT */
/* The shared rows are given out by blocks, to each module its own; what is given back is used again, as zeros. */
#include "record/tables/modules/row_allocator.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static int set_up(void **state)
{
    struct row_allocator *room = calloc(1, sizeof(*room));
    assert_non_null(room);
    room->rows = mmap(NULL, SESSION_ROWS * sizeof(*room->rows), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(room->rows, MAP_FAILED);
    *state = room;
    return 0;
}

static int tear_down(void **state)
{
    struct row_allocator *room = *state;
    munmap(room->rows, SESSION_ROWS * sizeof(*room->rows));
    free(room);
    return 0;
}

static uint32_t take(struct row_allocator *room, struct row_blocks *blocks, size_t cells)
{
    uint32_t first = UINT32_MAX;
    assert_int_equal(row_allocator_take(room, blocks, cells, &first), 0);
    return first;
}

static void what_a_module_has_lies_together(void **state)
{
    struct row_allocator *room = *state;
    struct row_blocks one = {0}, other = {0};
    assert_int_equal(take(room, &one, 100), 0);
    assert_int_equal(take(room, &other, 100), ROW_BLOCK_CELLS);
    assert_int_equal(take(room, &one, ROW_BLOCK_CELLS - 100), 100);
    assert_int_equal(take(room, &one, 1), 2 * ROW_BLOCK_CELLS);
    assert_int_equal(take(room, &other, ROW_BLOCK_CELLS - 100), ROW_BLOCK_CELLS + 100);
    assert_int_equal(take(room, &other, 2 * ROW_BLOCK_CELLS + 1), 3 * ROW_BLOCK_CELLS);
    assert_int_equal(take(room, &one, ROW_BLOCK_CELLS), 6 * ROW_BLOCK_CELLS);
    assert_int_equal(one.cells, 2 * ROW_BLOCK_CELLS + 1);
    row_allocator_free(room, &one);
    row_allocator_free(room, &other);
}

static void what_is_given_back_is_taken_again_and_holds_zeros(void **state)
{
    struct row_allocator *room = *state;
    struct row_blocks one = {0}, other = {0}, third = {0};
    take(room, &one, ROW_BLOCK_CELLS);
    take(room, &other, ROW_BLOCK_CELLS);
    take(room, &one, ROW_BLOCK_CELLS);
    memset(room->rows, 0xff, 3 * ROW_BLOCK_CELLS * sizeof(*room->rows));
    row_allocator_free(room, &one);
    assert_int_equal(one.cells, 0);
    uint32_t first = take(room, &third, 3 * ROW_BLOCK_CELLS);
    assert_int_equal(first, 2 * ROW_BLOCK_CELLS);
    for (uint32_t i = 0; i < 3 * ROW_BLOCK_CELLS; i++)
        assert_int_equal(room->rows[first + i].start | room->rows[first + i].rule, 0);
    assert_int_equal(room->rows[first - 1].rule, UINT32_MAX); /* the other's */
    assert_int_equal(take(room, &third, 1), 0);
    row_allocator_free(room, &other);
    row_allocator_free(room, &third);
}

static void more_than_there_is_cannot_be_taken(void **state)
{
    struct row_allocator *room = *state;
    struct row_blocks one = {0}, other = {0};
    uint32_t first;
    assert_int_equal(row_allocator_take(room, &one, SESSION_ROWS + 1, &first), -ENOSPC);
    assert_int_equal(row_allocator_take(room, &one, SIZE_MAX, &first), -ENOSPC);
    assert_int_equal(take(room, &one, SESSION_ROWS - ROW_BLOCK_CELLS), 0);
    assert_int_equal(take(room, &other, 1), SESSION_ROWS - ROW_BLOCK_CELLS);
    assert_int_equal(row_allocator_take(room, &one, 1, &first), -ENOSPC);
    assert_int_equal(take(room, &other, ROW_BLOCK_CELLS - 1), SESSION_ROWS - ROW_BLOCK_CELLS + 1);
    assert_int_equal(row_allocator_take(room, &other, 1, &first), -ENOSPC);
    row_allocator_free(room, &one);
    assert_int_equal(take(room, &other, 1), 0);
    row_allocator_free(room, &other);
}

static void pieces_of_any_size_use_all_room(void **state)
{
    struct row_allocator *room = *state;
    static const size_t sizes[] = {1, 100, 2100, 3000, ROW_BLOCK_CELLS, ROW_BLOCK_CELLS + 1, 9000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct row_blocks one = {0};
        uint32_t first;
        while (row_allocator_take(room, &one, sizes[i], &first) == 0)
            assert_int_equal(first, one.cells - sizes[i]);
        assert_true(SESSION_ROWS - one.cells < sizes[i]);
        row_allocator_free(room, &one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(what_a_module_has_lies_together),
        TEST(what_is_given_back_is_taken_again_and_holds_zeros),
        TEST(more_than_there_is_cannot_be_taken),
        TEST(pieces_of_any_size_use_all_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
