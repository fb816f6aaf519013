/* SPDX-License-Identifier: MIT */
#include "compare/compare.h"

#include "runs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* Runs of three functions: half of 10 000, a tenth, and the rest; each varies a little. */
static const uint64_t halves[] = {5000, 5040, 4960, 5010, 4990};
static const uint64_t tenths[] = {1000, 990, 1010, 1020, 980};

static struct comparison judged(struct compare_settings settings, size_t runs, double half_factor,
                                double tenth_factor, uint64_t added)
{
    struct comparison comparison;
    assert_int_equal(comparison_open(&comparison, &settings), 0);
    for (int side = 0; side < COMPARE_SIDES; side++) {
        for (size_t i = 0; i < runs; i++) {
            double half = side ? half_factor : 1, tenth = side ? tenth_factor : 1;
            const struct made_function functions[] = {
                {"half", (uint64_t)((double)halves[(i + (size_t)side) % 5] * half)},
                {"tenth", (uint64_t)((double)tenths[(i + (size_t)side) % 5] * tenth)},
                {"rest", 4000 + 10 * (i % 3)},
                {"added", side ? added : 0},
                {NULL, 0}};
            add_run(&comparison, (enum compare_side)side, made_run(functions));
        }
    }
    assert_int_equal(comparison_judge(&comparison), 0);
    return comparison;
}

static const struct compare_settings usual = {.threshold_share = 0.01, .noise_share = -1};

static void assert_verdict(const struct comparison *comparison, const char *name,
                           enum compare_verdict verdict)
{
    const struct compare_row *row = row_of(comparison, name);
    assert_non_null(row);
    if (row->verdict != verdict)
        fail_msg("%s: %d, not %d", name, (int)row->verdict, (int)verdict);
}

static void equal_runs_have_no_change(void **state)
{
    (void)state;
    struct comparison comparison = judged(usual, 5, 1, 1, 0);
    assert_verdict(&comparison, "half", COMPARE_NOISE);
    assert_verdict(&comparison, "tenth", COMPARE_NOISE);
    assert_verdict(&comparison, "rest", COMPARE_NOISE);
    assert_null(row_of(&comparison, "added"));
    assert_int_equal(comparison.total.verdict, COMPARE_NOISE);
    assert_int_equal(comparison.tested, 3);
    assert_true(fabs(comparison.total.mean[COMPARE_BASE] - 10008) < 1e-6);
    comparison_close(&comparison);
}

static void growth_decrease_and_new_functions_are_found(void **state)
{
    (void)state;
    struct comparison comparison = judged(usual, 5, 1.1, 0.5, 300);
    assert_verdict(&comparison, "half", COMPARE_GROWN);
    assert_verdict(&comparison, "tenth", COMPARE_SHRUNK);
    assert_verdict(&comparison, "added", COMPARE_ADDED);
    assert_verdict(&comparison, "rest", COMPARE_NOISE);
    const struct compare_row *half = row_of(&comparison, "half");
    assert_true(half->low < 500 && half->high > 500 && half->low > 0 && half->p < 0.01);
    comparison_close(&comparison);
}

static void changes_below_the_threshold_are_noise(void **state)
{
    (void)state;
    struct compare_settings settings = usual;
    settings.threshold_share = 0.06;
    struct comparison comparison = judged(settings, 5, 1.1, 1, 300);
    assert_verdict(&comparison, "half", COMPARE_NOISE);
    assert_verdict(&comparison, "added", COMPARE_SMALL);
    comparison_close(&comparison);
}

static void shares_do_not_change_when_everything_grows(void **state)
{
    (void)state;
    struct compare_settings settings = usual;
    settings.by_share = true;
    struct comparison comparison = judged(settings, 5, 1.1, 1, 0);
    const struct compare_row *half = row_of(&comparison, "half");
    assert_true(fabs(half->mean[COMPARE_BASE] - 0.4996) < 1e-3);
    assert_true(fabs(half->mean[COMPARE_NEW] - 0.5235) < 1e-3);
    assert_true(fabs(comparison.threshold - 0.01) < 1e-9);
    assert_int_equal(comparison.total.verdict, COMPARE_NOISE);
    comparison_close(&comparison);
}

static void one_run_each_has_no_verdict_but_with_noise(void **state)
{
    (void)state;
    struct comparison comparison = judged(usual, 1, 2, 1, 0);
    assert_verdict(&comparison, "half", COMPARE_SINGLE);
    const struct compare_row *half = row_of(&comparison, "half");
    /* Binomial sampling by weights of 10: sqrt(10 * (5000 * 0.5 + 10080 * 0)) on each side; the
     * new value exceeds the base's total. */
    assert_true(half->low < half->difference && half->low > 0);
    comparison_close(&comparison);
    struct compare_settings settings = usual;
    settings.noise_share = 0.1;
    comparison = judged(settings, 1, 2, 1, 0);
    assert_verdict(&comparison, "half", COMPARE_GROWN);
    comparison_close(&comparison);
    settings.noise_share = 0.5;
    comparison = judged(settings, 1, 2, 1, 0);
    assert_verdict(&comparison, "half", COMPARE_NOISE);
    comparison_close(&comparison);
}

static void more_than_the_total_of_the_base_has_a_sampling_error(void **state)
{
    (void)state;
    struct comparison comparison;
    assert_int_equal(comparison_open(&comparison, &usual), 0);
    const struct made_function before[] = {{"work", 100}, {"rest", 100}, {NULL, 0}};
    const struct made_function after[] = {{"work", 4000}, {"rest", 4000}, {NULL, 0}};
    add_run(&comparison, COMPARE_BASE, made_run(before));
    add_run(&comparison, COMPARE_NEW, made_run(after));
    assert_int_equal(comparison_judge(&comparison), 0);
    const struct compare_row *work = row_of(&comparison, "work");
    assert_non_null(work);
    /* 400 samples of 800 with a weight of 10: a standard deviation of 141 */
    assert_true(work->high - work->difference > 270 && work->high - work->difference < 290);
    comparison_close(&comparison);
}

static void one_run_against_several_uses_their_variation(void **state)
{
    (void)state;
    struct comparison comparison;
    assert_int_equal(comparison_open(&comparison, &usual), 0);
    for (size_t i = 0; i < 5; i++) {
        const struct made_function functions[] = {{"half", halves[i]}, {"rest", 5000}, {NULL, 0}};
        add_run(&comparison, COMPARE_BASE, made_run(functions));
    }
    const struct made_function slower[] = {{"half", 9000}, {"rest", 5010}, {NULL, 0}};
    add_run(&comparison, COMPARE_NEW, made_run(slower));
    assert_int_equal(comparison_judge(&comparison), 0);
    assert_verdict(&comparison, "half", COMPARE_GROWN);
    assert_verdict(&comparison, "rest", COMPARE_NOISE);
    comparison_close(&comparison);
}

static void total_time_counts_a_caller_once(void **state)
{
    (void)state;
    struct compare_settings settings = usual;
    settings.what = COMPARE_TOTAL;
    struct comparison comparison = judged(settings, 5, 1, 1, 0);
    const struct compare_row *outer = row_of(&comparison, "main");
    assert_non_null(outer);
    assert_true(fabs(outer->mean[COMPARE_BASE] - comparison.total.mean[COMPARE_BASE]) < 1e-6);
    comparison_close(&comparison);
}

static void lines_are_rows_of_their_own(void **state)
{
    (void)state;
    struct compare_settings settings = usual;
    settings.what = COMPARE_LINES;
    struct comparison comparison = judged(settings, 5, 1, 1, 0);
    const struct compare_row *row = row_of(&comparison, "tenth");
    assert_string_equal(comparison_text(&comparison, row->file), "a.c");
    assert_int_equal(row->line, 20);
    comparison_close(&comparison);
}

static void two_builds_of_a_module_are_one(void **state)
{
    (void)state;
    struct comparison comparison;
    assert_int_equal(comparison_open(&comparison, &usual), 0);
    const struct made_function before[] = {{"work", 1000}, {NULL, 0}};
    const struct made_function after[] = {{"work.cold", 200}, {"work", 900}, {NULL, 0}};
    add_run(&comparison, COMPARE_BASE, made_run_of("/lib/libx.so.1", 1, before));
    add_run(&comparison, COMPARE_NEW, made_run_of("/lib/libx.so.2", 2, after));
    assert_int_equal(comparison_judge(&comparison), 0);
    assert_int_equal(comparison.row_count, 1);
    assert_true(fabs(comparison.rows[0].mean[COMPARE_NEW] - 1100) < 1e-6);
    comparison_close(&comparison);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_runs_have_no_change),
        cmocka_unit_test(growth_decrease_and_new_functions_are_found),
        cmocka_unit_test(changes_below_the_threshold_are_noise),
        cmocka_unit_test(shares_do_not_change_when_everything_grows),
        cmocka_unit_test(one_run_each_has_no_verdict_but_with_noise),
        cmocka_unit_test(more_than_the_total_of_the_base_has_a_sampling_error),
        cmocka_unit_test(one_run_against_several_uses_their_variation),
        cmocka_unit_test(total_time_counts_a_caller_once),
        cmocka_unit_test(lines_are_rows_of_their_own),
        cmocka_unit_test(two_builds_of_a_module_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
