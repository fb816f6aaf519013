/* SPDX-License-Identifier: MIT */
/* Walks that end with their copy, continued by callchains. */
#include "record/perf_ring/walk/callchain_tail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 32 };
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Of complete stacks: 91 in main's caller. */
static const uint64_t complete[] = {10, 20, 91, 92, 93};

static struct root_frames main_root(void)
{
    struct root_frames root = {.count = 0};
    root_frames_note(&root, true, complete, COUNT(complete));
    return root;
}

/* Appends to `walked`, and compares all frames. */
static void check(const uint64_t *walked, size_t walked_count, const uint64_t *chain,
                  size_t chain_count, const uint64_t *expected, size_t expected_count,
                  bool is_complete)
{
    uint64_t frames[ROOM];
    struct cut_walk walk = {frames, walked_count, ROOM};
    struct root_frames root = main_root();
    memcpy(frames, walked, walked_count * sizeof(*walked));
    assert_int_equal(callchain_tail_append(&walk, chain, chain_count, &root), is_complete);
    assert_int_equal(walk.count, expected_count);
    assert_memory_equal(frames, expected, expected_count * sizeof(*expected));
}

#define CHECK(walked, chain, expected, is_complete) \
    check(walked, COUNT(walked), chain, COUNT(chain), expected, COUNT(expected), is_complete)

static void the_tail_follows_the_last_frames_of_the_walk(void **state)
{
    (void)state;
    const uint64_t walked[] = {1, 2, 3, 4, 5}; /* 2 keeps no frame pointer */
    const uint64_t chain[] = {1, 3, 4, 5, 6, 7, 91, 1000, 7};
    const uint64_t expected[] = {1, 2, 3, 4, 5, 6, 7, 91, 92, 93};
    CHECK(walked, chain, expected, true);
}

static void without_a_root_the_stack_is_incomplete(void **state)
{
    (void)state;
    const uint64_t walked[] = {1, 2, 3, 4, 5};
    const uint64_t chain[] = {1, 3, 4, 5, 6, 7};
    const uint64_t expected[] = {1, 2, 3, 4, 5, 6, 7};
    CHECK(walked, chain, expected, false);
}

static void a_callchain_without_the_last_frames_adds_none(void **state)
{
    (void)state;
    const uint64_t walked[] = {1, 2, 3, 4, 5};
    const uint64_t two[] = {1, 2, 4, 5, 6, 91};
    const uint64_t none[] = {1, 8, 9, 91};
    CHECK(walked, two, walked, false);
    CHECK(walked, none, walked, false);
    check(walked, COUNT(walked), NULL, 0, walked, COUNT(walked), false);
}

/* The leaf tells how many of the equal frames the walk had. */
static void a_recursion_is_continued_where_the_walk_ended(void **state)
{
    (void)state;
    const uint64_t walked[] = {1, 2, 3, 3, 3, 3};
    const uint64_t chain[] = {1, 2, 3, 3, 3, 3, 3, 3, 91};
    const uint64_t expected[] = {1, 2, 3, 3, 3, 3, 3, 3, 91, 92, 93};
    CHECK(walked, chain, expected, true);
    const uint64_t headless[] = {3, 3, 3, 3, 3, 3, 3, 3, 91};
    CHECK(walked, headless, walked, false);
}

static void words_that_are_no_user_addresses_end_the_tail(void **state)
{
    (void)state;
    const uint64_t walked[] = {1, 2, 3, 4, 5};
    const uint64_t chain[] = {1, 2, 3, 4, 5, 6, UINT64_MAX, 91};
    const uint64_t expected[] = {1, 2, 3, 4, 5, 6};
    CHECK(walked, chain, expected, false);
}

static void frames_beyond_the_room_are_left_out(void **state)
{
    (void)state;
    uint64_t frames[4] = {1, 2, 3};
    struct cut_walk walk = {frames, 3, 4};
    struct root_frames root = main_root();
    const uint64_t chain[] = {1, 2, 3, 4, 5, 91};
    assert_false(callchain_tail_append(&walk, chain, COUNT(chain), &root));
    assert_int_equal(walk.count, 4);
    assert_int_equal(frames[3], 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tail_follows_the_last_frames_of_the_walk),
        cmocka_unit_test(without_a_root_the_stack_is_incomplete),
        cmocka_unit_test(a_callchain_without_the_last_frames_adds_none),
        cmocka_unit_test(a_recursion_is_continued_where_the_walk_ended),
        cmocka_unit_test(words_that_are_no_user_addresses_end_the_tail),
        cmocka_unit_test(frames_beyond_the_room_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
