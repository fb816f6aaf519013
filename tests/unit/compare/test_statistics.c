/* SPDX-License-Identifier: MIT */
/* Expected values: scipy 1.10.1 and numpy 1.24.2 (stats.t.sf, stats.t.isf, stats.ttest_ind with
 * equal_var=False, var with ddof=1). */
#include "compare/statistics.h"

#include "compare/math_library.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void assert_near(double found, double expected)
{
    if (fabs(found - expected) > 1e-9 * fabs(expected) + DBL_MIN)
        fail_msg("%.15g, not %.15g", found, expected);
}

static void tails_of_students_t_are_those_of_scipy(void **state)
{
    (void)state;
    static const struct {
        double t, freedom, p;
    } rows[] = {
        {2.0, 8, 0.0805162379573},  {0.5, 3.7, 0.64533563332},
        {12, 4, 0.000276428548503}, {0, 5, 1},
        {3.25, 1, 0.190030321878},  {40, 2.5, 0.000141956342905},
        {-3.25, 1, 0.190030321878},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_near(student_two_sided(rows[i].t, rows[i].freedom), rows[i].p);
    assert_near(student_two_sided(1.959963984540054, INFINITY), 0.05);
    assert_true(fabs(student_two_sided(1.959963984540054, 1e9) - 0.0500000002773) < 1e-8);
}

static void quantiles_of_students_t_are_those_of_scipy(void **state)
{
    (void)state;
    assert_near(student_quantile(0.05, 8), 2.30600413503);
    assert_near(student_quantile(0.05, 4), 2.7764451052);
    assert_near(student_quantile(0.05, 1), 12.7062047364);
    assert_near(student_quantile(0.01, 6.3), 3.63601258185);
    assert_near(student_quantile(0.05, INFINITY), 1.959963984540054);
}

static void welchs_test_is_that_of_scipy(void **state)
{
    (void)state;
    static const double base[] = {479.1, 481.0, 470.2, 499.9, 476.4};
    static const double next[] = {527.3, 520.1, 533.8, 515.0, 541.7};
    struct moments a = moments_of(base, 5), b = moments_of(next, 5);
    assert_near(a.mean, 481.32);
    assert_near(a.variance, 124.527);
    double freedom = welch_freedom(a.variance / 5, 4, b.variance / 5, 4);
    double t = (b.mean - a.mean) / math_library.sqrt(a.variance / 5 + b.variance / 5);
    assert_near(freedom, 7.98149911651);
    assert_near(t, 6.71049594021);
    assert_near(student_two_sided(t, freedom), 0.000152668359482);
}

static void a_known_error_has_no_limit_of_freedom(void **state)
{
    (void)state;
    assert_true(isinf(welch_freedom(2, INFINITY, 3, INFINITY)));
    assert_near(welch_freedom(2, 4, 0, 4), 4);
    assert_near(welch_freedom(2, 4, 2, INFINITY), 16);
}

static void a_single_value_has_no_variance(void **state)
{
    (void)state;
    const double value = 7;
    struct moments one = moments_of(&value, 1);
    assert_near(one.mean, 7);
    assert_true(one.variance == 0);
    assert_int_equal(one.count, 1);
}

static void the_weighted_median_has_half_of_the_weight(void **state)
{
    (void)state;
    struct weighted equal[] = {{9, 1}, {1, 1}, {4, 1}};
    struct weighted heavy[] = {{2, 1}, {8, 5}, {1, 1}, {9, 1}};
    struct weighted light[] = {{2, 3}, {8, 0}, {1, 3}};
    assert_near(weighted_median(equal, 3), 4);
    assert_near(weighted_median(heavy, 4), 8);
    assert_near(weighted_median(light, 3), 1);
    assert_true(weighted_median(equal, 0) == 0);
}

/* The example of Benjamini and Hochberg (1995), section 3.2: 15 p-values; the first four are
 * rejected at 0.05, only three by Bonferroni. */
static void the_false_discovery_rate_is_held_as_in_the_paper(void **state)
{
    (void)state;
    static const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                               0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    bool accepted[15];
    assert_int_equal(benjamini_hochberg(p, 15, 0.05, accepted), 0);
    for (size_t i = 0; i < 15; i++)
        assert_int_equal(accepted[i], i < 4);
    static const double reversed[] = {0.04, 0.03, 0.001};
    assert_int_equal(benjamini_hochberg(reversed, 3, 0.05, accepted), 0);
    assert_true(accepted[0] && accepted[1] && accepted[2]);
    assert_int_equal(benjamini_hochberg(reversed, 2, 0.05, accepted), 0);
    assert_true(accepted[0] && accepted[1]);
    assert_int_equal(benjamini_hochberg(reversed, 2, 0.01, accepted), 0);
    assert_true(!accepted[0] && !accepted[1]);
}

static int load_library(void **state)
{
    (void)state;
    return math_library_load() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_of_students_t_are_those_of_scipy),
        cmocka_unit_test(quantiles_of_students_t_are_those_of_scipy),
        cmocka_unit_test(welchs_test_is_that_of_scipy),
        cmocka_unit_test(a_known_error_has_no_limit_of_freedom),
        cmocka_unit_test(a_single_value_has_no_variance),
        cmocka_unit_test(the_weighted_median_has_half_of_the_weight),
        cmocka_unit_test(the_false_discovery_rate_is_held_as_in_the_paper),
    };
    return cmocka_run_group_tests(tests, load_library, NULL);
}
