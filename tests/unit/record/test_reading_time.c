/* SPDX-License-Identifier: MIT */
/* What a user spends on files is taken from no other user, and comes back with time. */
#include "record/account/reading_time.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define NOW UINT64_C(1000000000000)
#define SECOND UINT64_C(1000000000)

static void a_user_without_time_gets_a_share_of_the_time_that_passes(void **state)
{
    (void)state;
    struct reading_time time = {0};
    assert_true(reading_time_is_left(&time, 7, NOW));
    reading_time_spend(&time, 7, READING_START_NS - 1);
    assert_true(reading_time_is_left(&time, 7, NOW));
    reading_time_spend(&time, 7, SECOND + 1); /* a file may take more than is left */
    assert_false(reading_time_is_left(&time, 7, NOW));
    assert_false(reading_time_is_left(&time, 7, NOW + 100 * SECOND / READING_PERCENT));
    assert_true(reading_time_is_left(&time, 7, NOW + 100 * SECOND / READING_PERCENT + 1000));
}

static void unused_time_is_not_kept(void **state)
{
    (void)state;
    struct reading_time time = {0};
    assert_true(reading_time_is_left(&time, 7, NOW));
    assert_true(reading_time_is_left(&time, 7, NOW + 1000 * SECOND));
    reading_time_spend(&time, 7, READING_START_NS);
    assert_false(reading_time_is_left(&time, 7, NOW + 1000 * SECOND));
}

static void users_spend_their_own_time_only(void **state)
{
    (void)state;
    struct reading_time time = {0};
    assert_true(reading_time_is_left(&time, 7, NOW));
    reading_time_spend(&time, 7, READING_START_NS);
    assert_true(reading_time_is_left(&time, 8, NOW));
    assert_false(reading_time_is_left(&time, 7, NOW));
}

static void further_users_share_the_time_of_the_last_one(void **state)
{
    (void)state;
    struct reading_time time = {0};
    for (uid_t uid = 1; uid <= READING_USERS_MAX + 5; uid++)
        assert_true(reading_time_is_left(&time, uid, NOW));
    reading_time_spend(&time, READING_USERS_MAX + 3, READING_START_NS);
    assert_true(reading_time_is_left(&time, READING_USERS_MAX - 1, NOW));
    assert_false(reading_time_is_left(&time, READING_USERS_MAX, NOW));
    assert_false(reading_time_is_left(&time, READING_USERS_MAX + 5, NOW));
    assert_int_equal(time.count, READING_USERS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_without_time_gets_a_share_of_the_time_that_passes),
        cmocka_unit_test(unused_time_is_not_kept),
        cmocka_unit_test(users_spend_their_own_time_only),
        cmocka_unit_test(further_users_share_the_time_of_the_last_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
