/* SPDX-License-Identifier: MIT */
/* A function in a process of its own, with a time limit. */
#include "base/time_limited.h"

#include "base/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)

static int add_one(void *context)
{
    ++*(int *)context;
    return -ENOTSUP;
}

static int hang(void *context)
{
    for (;;)
        pause();
    return *(int *)context;
}

static int crash(void *context)
{
    (void)context;
    kill(getpid(), SIGKILL);
    return 0;
}

static void the_result_comes_back_and_memory_stays_apart(void **state)
{
    (void)state;
    int own = 1;
    int *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    assert_int_equal(time_limited_run(add_one, &own, 10 * SECOND_NS), -ENOTSUP);
    assert_int_equal(time_limited_run(add_one, shared, 10 * SECOND_NS), -ENOTSUP);
    assert_int_equal(own, 1);
    assert_int_equal(*shared, 1);
    munmap(shared, sizeof(*shared));
}

static void a_function_without_end_is_given_up(void **state)
{
    (void)state;
    uint64_t start_ns = monotonic_ns();
    assert_int_equal(time_limited_run(hang, NULL, SECOND_NS / 10), -ETIMEDOUT);
    assert_true(monotonic_ns() - start_ns >= SECOND_NS / 10);
    while (waitpid(-1, NULL, 0) > 0)
        continue; /* the killed process ends: else this test hangs */
}

static void a_crash_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(time_limited_run(crash, NULL, 10 * SECOND_NS), -ECANCELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_comes_back_and_memory_stays_apart),
        cmocka_unit_test(a_function_without_end_is_given_up),
        cmocka_unit_test(a_crash_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
