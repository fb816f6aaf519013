/* SPDX-License-Identifier: MIT */
#include "base/aside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

struct step {
    int number;
    pid_t thread;
};

static void double_it(void *context)
{
    struct step *step = context;
    usleep(step->number % 7 == 0 ? 2000 : 0);
    step->number *= 2;
    step->thread = gettid();
}

static void each_thing_is_done_once_and_seen_after_the_wait(void **state)
{
    (void)state;
    struct aside aside = {0};
    aside_wait(&aside);
    for (int i = 0; i < 500; i++) {
        struct step step = {.number = i};
        aside_do(&aside, double_it, &step);
        aside_wait(&aside);
        assert_int_equal(step.number, 2 * i);
        assert_int_not_equal(step.thread, gettid());
    }
    aside_stop(&aside);
}

static void stopping_waits_and_it_can_begin_again(void **state)
{
    (void)state;
    struct aside aside = {0};
    struct step step = {.number = 7};
    aside_stop(&aside);
    for (int i = 1; i <= 2; i++) {
        aside_do(&aside, double_it, &step);
        aside_stop(&aside);
        assert_int_equal(step.number, 7 << i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thing_is_done_once_and_seen_after_the_wait),
        cmocka_unit_test(stopping_waits_and_it_can_begin_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
