/* SPDX-License-Identifier: MIT */
/* The share of the CPU time that is missing in the stacks: every part of the sum, and its limits. */
#include "cli/summary/incomplete.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_percent(const struct record_summary *summary, double expected)
{
    double percent = incomplete_percent(summary);
    if (percent < expected - 1e-9 || percent > expected + 1e-9)
        fail_msg("%f %%, expected %f %%", percent, expected);
}

static void complete_stacks_ends_and_kernel_threads_are_not_missing(void **state)
{
    (void)state;
    struct record_summary summary = {
        .cpu_billed_ns = 1000,
        .cpu_seen_ns = 1000,
        .cpu_complete_ns = 700,
        .cpu_ends_ns = 200,
        .cpu_unsampled_kernel_ns = 100,
    };
    assert_percent(&summary, 0);
    summary.cpu_complete_ns = 600;
    assert_percent(&summary, 10);
    summary.cpu_ends_ns = 0;
    assert_percent(&summary, 30);
    summary.cpu_unsampled_kernel_ns = 0;
    assert_percent(&summary, 40);
}

static void time_that_only_the_kernel_has_counted_is_missing(void **state)
{
    (void)state;
    struct record_summary summary = {
        .cpu_billed_ns = 1000, .cpu_seen_ns = 500, .cpu_complete_ns = 500};
    assert_percent(&summary, 50);
}

static void samples_that_stand_for_more_than_was_billed_count_as_they_are(void **state)
{
    (void)state;
    struct record_summary summary = {
        .cpu_billed_ns = 500, .cpu_seen_ns = 1000, .cpu_complete_ns = 500};
    assert_percent(&summary, 50);
    summary.cpu_complete_ns = 2000;
    assert_percent(&summary, 0);
}

static void a_recording_without_cpu_time_is_complete(void **state)
{
    (void)state;
    const struct record_summary summary = {0};
    assert_percent(&summary, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_stacks_ends_and_kernel_threads_are_not_missing),
        cmocka_unit_test(time_that_only_the_kernel_has_counted_is_missing),
        cmocka_unit_test(samples_that_stand_for_more_than_was_billed_count_as_they_are),
        cmocka_unit_test(a_recording_without_cpu_time_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
