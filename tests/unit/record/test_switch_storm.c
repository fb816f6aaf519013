/* SPDX-License-Identifier: MIT */
/* 3 % of a second is the cost of 27 000 context switches; of eight busy processors, of 220 000. */
#include "record/off_cpu/time/switch_storm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

static void a_processor_bears_27000_switches_a_second(void **state)
{
    (void)state;
    struct switch_storm window = {.begin_ns = 5 * S, .records = 1000};
    assert_int_equal(switch_storm_find(&window, 6 * S, 1000 + 2 * 27000, S / 2), 0);
    assert_int_equal(switch_storm_find(&window, 8 * S, 55000 + 2 * 54000, S), 0);
    assert_int_equal(switch_storm_find(&window, 9 * S, 163000 + 2 * 28000, S), 28000);
}

static void a_program_on_many_processors_bears_more(void **state)
{
    (void)state;
    struct switch_storm window = {.begin_ns = 0};
    assert_int_equal(switch_storm_find(&window, S, 2 * 215000, 8 * S), 0);
    assert_int_equal(switch_storm_find(&window, 2 * S, 2 * 440000, 16 * S), 225000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_processor_bears_27000_switches_a_second),
        cmocka_unit_test(a_program_on_many_processors_bears_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
