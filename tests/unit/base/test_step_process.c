/* SPDX-License-Identifier: MIT */
#include "base/sandbox/step_process.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

static int with_status(void *context)
{
    int *status = context, killed_with_parent = 0;
    prctl(PR_GET_PDEATHSIG, &killed_with_parent);
    return killed_with_parent == SIGKILL ? (*status)++ : 99;
}

static void the_result_comes_back_and_memory_does_not(void **state)
{
    (void)state;
    int status = 7;
    assert_int_equal(step_process_run(with_status, &status), 7);
    assert_int_equal(status, 7);
}

static int crash(void *context)
{
    (void)context;
    signal(SIGSEGV, SIG_DFL); /* not the sanitizer's */
    raise(SIGSEGV);
    return 0;
}

static void a_crash_ends_the_step_alone(void **state)
{
    (void)state;
    assert_int_equal(step_process_run(crash, NULL), STEP_PROCESS_SIGNAL + SIGSEGV);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_comes_back_and_memory_does_not),
        cmocka_unit_test(a_crash_ends_the_step_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
