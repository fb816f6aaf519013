/* SPDX-License-Identifier: MIT */
#include "export/firefox/period_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* "TIME:WEIGHT …" of the rows of one sample. */
static void expect(struct period_rows *rows, uint64_t time_ns, uint64_t weight,
                   const char *expected)
{
    struct row_run run = period_rows_add(rows, time_ns, weight);
    char text[512] = "";
    size_t used = 0;
    for (uint64_t i = 0; i < run.count && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%ju:%ju", i ? " " : "",
                                 (uintmax_t)row_run_time(&run, i),
                                 (uintmax_t)row_run_weight(&run, i, i + 1));
    assert_string_equal(text, expected);
}

static void a_sample_of_one_period_is_one_row(void **state)
{
    (void)state;
    struct period_rows rows = period_rows_start(10, 100);
    expect(&rows, 110, 10, "110:10");
    expect(&rows, 125, 10, "125:10");
}

static void periods_after_a_sleep_are_where_the_time_was_spent(void **state)
{
    (void)state;
    struct period_rows rows = period_rows_start(10, 0);
    expect(&rows, 10, 10, "10:10");
    expect(&rows, 1000, 40, "970:10 980:10 990:10 1000:10");
}

static void periods_of_a_busy_thread_fill_the_time_since_the_previous_row(void **state)
{
    (void)state;
    struct period_rows rows = period_rows_start(10, 100);
    expect(&rows, 124, 40, "106:10 112:10 118:10 124:10"); /* 24 ns since the start */
    expect(&rows, 124, 30, "124:10 124:10 124:10");        /* no time since then */
    expect(&rows, 120, 20, "124:10 124:10");               /* clocks disagreed */
}

static void the_remainder_is_carried_to_later_samples(void **state)
{
    (void)state;
    struct period_rows rows = period_rows_start(10, 0);
    expect(&rows, 100, 14, "100:14");
    expect(&rows, 200, 14, "193:7 200:7"); /* 28 periods in ten: 3 rows */
    expect(&rows, 300, 14, "300:14");      /* 42: 4 */
    expect(&rows, 400, 14, "393:7 400:7"); /* 56: 6 */
    expect(&rows, 500, 34, "478:11 489:11 500:12");
}

static void every_sample_has_a_row_and_light_ones_take_none_of_the_others(void **state)
{
    (void)state;
    struct period_rows rows = period_rows_start(10, 0);
    for (uint64_t i = 1; i < 100; i++)
        expect(&rows, 0, i % 2, i % 2 ? "0:1" : "0:0");
    expect(&rows, 1000, 50, "960:10 970:10 980:10 990:10 1000:10");
    expect(&rows, 1100, 4, "1100:4");
    expect(&rows, 1200, 14, "1200:14");
}

static void without_a_period_a_sample_is_a_row(void **state)
{
    (void)state;
    struct period_rows rows = period_rows_start(0, 0);
    expect(&rows, 50, 1000, "50:1000");
    expect(&rows, 60, 0, "60:0");
}

/* Weights of any size: the sums are exact, times are in order, rows keep up with the weight. */
static void sums_are_exact_and_times_in_order(void **state)
{
    (void)state;
    enum { PERIOD = 1001001 };
    struct period_rows rows = period_rows_start(PERIOD, 0);
    uint64_t random = 1, time_ns = 0, last_ns = 0, weight = 0, count = 0;
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t sample = PERIOD + (random >> 33) % (10 * PERIOD);
        time_ns += (random >> 40) % (20 * PERIOD);
        struct row_run run = period_rows_add(&rows, time_ns, sample);
        uint64_t sum = 0;
        for (uint64_t row = 0; row < run.count; row++) {
            assert_true(row_run_time(&run, row) >= last_ns);
            last_ns = row_run_time(&run, row);
            sum += row_run_weight(&run, row, row + 1);
        }
        assert_int_equal(last_ns, time_ns);
        assert_int_equal(sum, sample);
        assert_int_equal(row_run_weight(&run, 0, run.count), sample);
        weight += sample;
        count += run.count;
        assert_in_range(count * PERIOD + PERIOD / 2 + 1 - weight, 0, PERIOD + 1);
    }
}

static void no_number_overflows(void **state)
{
    (void)state;
    struct period_rows rows = period_rows_start(1, 0);
    struct row_run run = period_rows_add(&rows, UINT64_MAX, UINT64_MAX);
    assert_int_equal(run.count, UINT64_MAX);
    assert_int_equal(row_run_time(&run, 0), 1);
    assert_int_equal(row_run_time(&run, run.count - 1), UINT64_MAX);
    assert_int_equal(row_run_weight(&run, 0, run.count), UINT64_MAX);
    rows = period_rows_start(UINT64_MAX, 0);
    for (int i = 0; i < 100; i++) {
        run = period_rows_add(&rows, UINT64_MAX, UINT64_MAX);
        assert_in_range(run.count, 8, 9);
        assert_int_equal(row_run_weight(&run, 0, run.count), UINT64_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_of_one_period_is_one_row),
        cmocka_unit_test(periods_after_a_sleep_are_where_the_time_was_spent),
        cmocka_unit_test(periods_of_a_busy_thread_fill_the_time_since_the_previous_row),
        cmocka_unit_test(the_remainder_is_carried_to_later_samples),
        cmocka_unit_test(every_sample_has_a_row_and_light_ones_take_none_of_the_others),
        cmocka_unit_test(without_a_period_a_sample_is_a_row),
        cmocka_unit_test(sums_are_exact_and_times_in_order),
        cmocka_unit_test(no_number_overflows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
