/* SPDX-License-Identifier: MIT */
/* Ticks lie in their intervals, at random places; a long wait has a sample for each tick, and the samples add up to the
 * wait. */
#include "record/off_cpu/time/wait_cut.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static const struct wait_ticks ticks = {
    .interval_ns = 10 * MS, .seed = 1234567, .single_cuts = 256};

static void each_interval_has_a_tick(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        assert_in_range(wait_tick_ns(&ticks, i), 10 * MS * i, 10 * MS * (i + 1) - 1);
        assert_int_equal(wait_tick_from(&ticks, wait_tick_ns(&ticks, i)), i);
        assert_int_equal(wait_tick_from(&ticks, wait_tick_ns(&ticks, i) + 1), i + 1);
    }
}

/* A program in step with the interval is met in a tenth of its phases by a tenth of the ticks. */
static void ticks_meet_every_phase_of_their_interval(void **state)
{
    (void)state;
    unsigned phases[10] = {0};
    for (uint64_t i = 0; i < 10000; i++)
        phases[wait_tick_ns(&ticks, i) % (10 * MS) / MS]++;
    for (size_t i = 0; i < 10; i++)
        assert_in_range(phases[i], 850, 1150);
}

static uint64_t count_ticks(uint64_t start_ns, uint64_t end_ns)
{
    uint64_t count = 0;
    for (uint64_t i = start_ns / (10 * MS); i <= end_ns / (10 * MS); i++)
        count += wait_tick_ns(&ticks, i) >= start_ns && wait_tick_ns(&ticks, i) < end_ns;
    return count;
}

/* Cuts at these times, as windows end; returns the number of samples. */
static uint64_t cut(uint64_t start_ns, uint64_t end_ns, uint64_t window_ns)
{
    struct wait_piece piece;
    struct wait_cut wait = wait_cut_begin(&ticks, start_ns);
    uint64_t count = 0, next_ns = start_ns;
    for (uint64_t until_ns = start_ns; until_ns < end_ns;) {
        until_ns = until_ns + window_ns < end_ns ? until_ns + window_ns : end_ns;
        if (!wait_is_long(&wait, &ticks, until_ns))
            continue;
        while (wait_cut_next(&wait, &ticks, until_ns, until_ns == end_ns, &piece)) {
            assert_int_equal(piece.start_ns, next_ns);
            assert_true(piece.end_ns > piece.start_ns);
            next_ns = piece.end_ns;
            count++;
        }
    }
    assert_int_equal(next_ns, count ? end_ns : start_ns);
    return count;
}

static void a_long_wait_has_a_sample_for_each_tick(void **state)
{
    (void)state;
    for (uint64_t start_ns = 5 * MS; start_ns < 10000 * MS; start_ns += 37 * MS + 1) {
        uint64_t end_ns = start_ns + start_ns % (1500 * MS) + 1;
        uint64_t expected = count_ticks(start_ns, end_ns);
        expected = expected < 2 ? 0 : expected;
        assert_int_equal(cut(start_ns, end_ns, UINT64_MAX / 4), expected);
        assert_int_equal(cut(start_ns, end_ns, 100 * MS), expected);
    }
}

static void two_seconds_have_about_two_hundred_samples(void **state)
{
    (void)state;
    for (uint64_t start_ns = MS; start_ns < 1000 * MS; start_ns += 7 * MS)
        assert_in_range(cut(start_ns, start_ns + 2000 * MS, 1000 * MS), 199, 201);
}

static void an_idle_thread_has_a_sample_a_second_later_on(void **state)
{
    (void)state;
    uint64_t hour = cut(MS, MS + 3600000 * MS, 1000 * MS);
    assert_in_range(hour, 3600, 3600 + ticks.single_cuts + 2);
}

static void the_ticks_of_a_wait_decide_whether_it_is_long(void **state)
{
    (void)state;
    struct wait_cut wait = wait_cut_begin(&ticks, 100 * MS);
    uint64_t first_ns = wait_tick_ns(&ticks, wait.first);
    uint64_t second_ns = wait_tick_ns(&ticks, wait.first + 1);
    assert_false(wait_is_long(&wait, &ticks, first_ns + 1));
    assert_false(wait_is_long(&wait, &ticks, second_ns));
    assert_true(wait_is_long(&wait, &ticks, second_ns + 1));
}

/* At each change the window has just ended. */
static void a_wait_across_changes_of_the_interval_is_whole(void **state)
{
    (void)state;
    for (uint64_t start_ns = 5 * MS; start_ns < 2000 * MS; start_ns += 37 * MS + 1) {
        static const uint64_t intervals_ns[] = {10 * MS, 80 * MS, 20 * MS, 10 * MS};
        struct wait_ticks now = ticks;
        struct wait_piece piece;
        struct wait_cut wait = wait_cut_begin(&now, start_ns);
        uint64_t next_ns = start_ns, until_ns = start_ns;
        for (size_t i = 0; i < 4; i++) {
            now.interval_ns = intervals_ns[i];
            wait_cut_change(&wait, &now);
            until_ns += 60 * MS;
            assert_true(i == 0 || wait_is_long(&wait, &now, until_ns));
            while (wait_cut_next(&wait, &now, until_ns, i == 3, &piece)) {
                assert_int_equal(piece.start_ns, next_ns);
                assert_true(piece.end_ns > piece.start_ns);
                next_ns = piece.end_ns;
            }
        }
        assert_int_equal(next_ns, until_ns);
    }
}

static void a_wait_without_samples_is_short_by_the_new_ticks(void **state)
{
    (void)state;
    struct wait_ticks now = ticks;
    struct wait_cut wait = wait_cut_begin(&now, 100 * MS);
    assert_true(wait_is_long(&wait, &now, 130 * MS));
    now.interval_ns = 80 * MS;
    wait_cut_change(&wait, &now);
    assert_false(wait_is_long(&wait, &now, 130 * MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_interval_has_a_tick),
        cmocka_unit_test(ticks_meet_every_phase_of_their_interval),
        cmocka_unit_test(a_long_wait_has_a_sample_for_each_tick),
        cmocka_unit_test(two_seconds_have_about_two_hundred_samples),
        cmocka_unit_test(an_idle_thread_has_a_sample_a_second_later_on),
        cmocka_unit_test(the_ticks_of_a_wait_decide_whether_it_is_long),
        cmocka_unit_test(a_wait_across_changes_of_the_interval_is_whole),
        cmocka_unit_test(a_wait_without_samples_is_short_by_the_new_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
