/* SPDX-License-Identifier: MIT */
/* The texts of /proc/PID/task/TID/syscall and schedstat. */
#include "record/procfs/blocked/blocked_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_system_call_has_arguments_sp_and_pc(void **state)
{
    (void)state;
    struct blocked_call call;
    assert_true(blocked_call_parse(&call,
                                   "202 0x7f10 0x80 0x2 0x0 0x0 0xffffffffffffffff 0x7ffc1000 "
                                   "0x7f5d00001234\n"));
    assert_int_equal(call.state, CALL_WAITING);
    assert_int_equal(call.number, 202);
    assert_int_equal(call.arguments[0], 0x7f10);
    assert_int_equal(call.arguments[2], 2);
    assert_true(call.arguments[5] == UINT64_MAX);
    assert_int_equal(call.sp, 0x7ffc1000);
    assert_int_equal(call.pc, 0x7f5d00001234);
}

static void threads_without_a_call_differ_by_their_stack(void **state)
{
    (void)state;
    struct blocked_call call;
    assert_true(blocked_call_parse(&call, "running\n"));
    assert_int_equal(call.state, CALL_RUNNING);
    assert_true(blocked_call_parse(&call, "-1 0x7ffc1000 0x401234\n"));
    assert_int_equal(call.state, CALL_FAULTING);
    assert_int_equal(call.pc, 0x401234);
    assert_true(blocked_call_parse(&call, "-1 0x0 0x0\n"));
    assert_int_equal(call.state, CALL_STACKLESS);
}

static void a_short_text_is_malformed(void **state)
{
    (void)state;
    struct blocked_call call;
    struct run_account account;
    assert_false(blocked_call_parse(&call, ""));
    assert_false(blocked_call_parse(&call, "202 0x7f10 0x80"));
    assert_false(blocked_call_parse(&call, "-1 0x7ffc1000"));
    assert_false(run_account_parse(&account, "12 34"));
    assert_false(run_account_parse(&account, ""));
}

static void schedstat_counts_turns(void **state)
{
    (void)state;
    struct run_account account;
    assert_true(run_account_parse(&account, "123456789 4242 17\n"));
    assert_int_equal(account.cpu_ns, 123456789);
    assert_int_equal(account.delay_ns, 4242);
    assert_int_equal(account.turns, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_system_call_has_arguments_sp_and_pc),
        cmocka_unit_test(threads_without_a_call_differ_by_their_stack),
        cmocka_unit_test(a_short_text_is_malformed),
        cmocka_unit_test(schedstat_counts_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
