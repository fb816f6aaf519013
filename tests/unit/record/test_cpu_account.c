/* SPDX-License-Identifier: MIT */
/* The arithmetic of one process' CPU time: every nanosecond is in exactly one place. */
#include "record/account/cpu_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void time_before_the_sampler_is_settled(void **state)
{
    (void)state;
    struct cpu_account account = cpu_account_start(3000, 100);
    assert_int_equal(cpu_account_settled_ns(&account), 3000);
    assert_int_equal(cpu_account_gap_ns(&account), 0);
}

static void the_gap_is_what_neither_samples_nor_waiting_ones_stand_for(void **state)
{
    (void)state;
    struct cpu_account account = cpu_account_start(3000, 100);
    assert_true(cpu_account_look(&account, 10000, 200));
    assert_int_equal(cpu_account_gap_ns(&account), 7000);
    account.seen_ns += 4000;
    account.waiting_ns += 1000;
    assert_int_equal(cpu_account_gap_ns(&account), 2000);
    /* The invariant of the header. */
    assert_int_equal(account.last_cpu_ns, account.start_cpu_ns + account.seen_ns +
                                              account.waiting_ns + cpu_account_gap_ns(&account));
    account.seen_ns += 9000; /* samples may weigh more than the kernel's figure */
    assert_int_equal(cpu_account_gap_ns(&account), 0);
}

static void a_look_at_a_process_that_is_gone_changes_nothing(void **state)
{
    (void)state;
    struct cpu_account account = cpu_account_start(3000, 100);
    assert_true(cpu_account_look(&account, 5000, 200));
    assert_false(cpu_account_look(&account, 0, 300));
    assert_int_equal(account.looked_ns, 200);
    assert_int_equal(account.last_cpu_ns, 5000);
    assert_false(cpu_account_look(&account, 5000, 400)); /* idle, but looked at */
    assert_int_equal(account.looked_ns, 400);
    cpu_account_raise(&account, 4000);
    assert_int_equal(account.last_cpu_ns, 5000);
    cpu_account_raise(&account, 6000);
    assert_int_equal(account.last_cpu_ns, 6000);
}

static void samples_in_the_kernel_lose_what_is_above_the_cpu_time(void **state)
{
    (void)state;
    struct cpu_account account = cpu_account_start(3000, 100);
    assert_int_equal(cpu_account_weigh(&account, 800), 800);
    account.seen_ns = 5000;
    account.waiting_ns = 1150;
    cpu_account_look(&account, 9000, 200); /* 150 too much */
    assert_int_equal(cpu_account_weigh(&account, 800), 700);
    assert_int_equal(cpu_account_weigh(&account, 800), 750);
    assert_int_equal(cpu_account_weigh(&account, 800), 800);
    cpu_account_look(&account, 9500, 300);
    assert_int_equal(cpu_account_weigh(&account, 800), 800);
}

static void a_restart_forgets_what_was_before(void **state)
{
    (void)state;
    struct cpu_account account = cpu_account_start(3000, 100);
    cpu_account_look(&account, 9000, 200);
    account.seen_ns = 2000;
    cpu_account_restart(&account, 9000);
    assert_int_equal(cpu_account_gap_ns(&account), 0);
    cpu_account_look(&account, 9500, 300);
    assert_int_equal(cpu_account_gap_ns(&account), 500);
}

static void the_events_count_continues_the_last_look_at_both(void **state)
{
    (void)state;
    struct cpu_account account = {.counted_cpu_ns = 7000, .last_count_ns = 6500};
    assert_int_equal(cpu_account_by_count_ns(&account, 8500), 9000);
}

static void a_rest_is_split_where_the_program_ended(void **state)
{
    (void)state;
    static const struct {
        uint64_t rest_ns, settled_ns, end_cpu_ns, between_ns, after_ns;
    } cases[] = {
        {1000, 5000, 5400, 400, 600}, /* exit() 400 after the last sample */
        {1000, 5000, 0, 1000, 0},     /* unknown: all of it between samples */
        {1000, 5000, 4000, 0, 1000},  /* samples beyond exit() */
        {1000, 5000, 9999, 1000, 0},  /* stated later than the kernel's figure */
        {0, 5000, 5400, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cpu_rest rest =
            cpu_account_split(cases[i].rest_ns, cases[i].settled_ns, cases[i].end_cpu_ns);
        assert_int_equal(rest.between_ns, cases[i].between_ns);
        assert_int_equal(rest.after_ns, cases[i].after_ns);
        assert_int_equal(rest.between_ns + rest.after_ns, cases[i].rest_ns);
    }
}

static void events_of_user_code_hold_back_kernel_time(void **state)
{
    (void)state;
    assert_int_equal(cpu_account_periods_ns(1000, false, 3), 3000);
    assert_int_equal(cpu_account_periods_ns(1000, true, 3), 15000);
    assert_int_equal(cpu_account_periods_ns(1000, true, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_before_the_sampler_is_settled),
        cmocka_unit_test(the_gap_is_what_neither_samples_nor_waiting_ones_stand_for),
        cmocka_unit_test(a_look_at_a_process_that_is_gone_changes_nothing),
        cmocka_unit_test(samples_in_the_kernel_lose_what_is_above_the_cpu_time),
        cmocka_unit_test(a_restart_forgets_what_was_before),
        cmocka_unit_test(the_events_count_continues_the_last_look_at_both),
        cmocka_unit_test(a_rest_is_split_where_the_program_ended),
        cmocka_unit_test(events_of_user_code_hold_back_kernel_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
