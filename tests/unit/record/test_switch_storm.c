/* SPDX-License-Identifier: MIT */
/* 3 % of a second is the cost of 27 000 context switches; of eight busy processors, of 220 000. */
#include "record/off_cpu/time/switch_storm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

static struct storm_rates find(struct switch_storm *window, struct switch_storm now, size_t events)
{
    return switch_storm_find(window, &now, events);
}

static void a_processor_bears_27000_switches_a_second(void **state)
{
    (void)state;
    struct switch_storm window = {.begin_ns = 5 * S, .records = 1000};
    assert_int_equal(find(&window, (struct switch_storm){6 * S, 55000, 0, S / 2}, 2).switches, 0);
    assert_int_equal(find(&window, (struct switch_storm){8 * S, 163000, 0, S}, 2).switches, 0);
    assert_int_equal(find(&window, (struct switch_storm){9 * S, 219000, 0, S}, 2).switches, 28000);
}

static void a_program_on_many_processors_bears_more(void **state)
{
    (void)state;
    struct switch_storm window = {.begin_ns = 0};
    assert_int_equal(find(&window, (struct switch_storm){S, 430000, 0, 8 * S}, 8).switches, 0);
    assert_int_equal(find(&window, (struct switch_storm){2 * S, 880000, 0, 16 * S}, 8).switches,
                     225000);
}

/* A new thread costs 3.4 us with two processors, and 218 us with 128. */
static void new_threads_cost_by_the_number_of_processors(void **state)
{
    (void)state;
    struct switch_storm two = {.begin_ns = S}, many = {.begin_ns = S};
    const struct switch_storm few = {2 * S, 0, 130, S}, more = {3 * S, 0, 275, 2 * S};
    assert_int_equal(switch_storm_find(&two, &few, 2).starts, 0);
    assert_int_equal(switch_storm_find(&two, &more, 2).starts, 0);
    assert_int_equal(switch_storm_find(&many, &few, 128).starts, 0);
    assert_int_equal(switch_storm_find(&many, &more, 128).starts, 145);
}

static void switches_and_new_threads_add_up(void **state)
{
    (void)state;
    struct switch_storm window = {.begin_ns = S};
    struct storm_rates storm = find(&window, (struct switch_storm){2 * S, 2 * 20000, 5000, S}, 2);
    assert_int_equal(storm.switches, 20000);
    assert_int_equal(storm.starts, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_processor_bears_27000_switches_a_second),
        cmocka_unit_test(a_program_on_many_processors_bears_more),
        cmocka_unit_test(new_threads_cost_by_the_number_of_processors),
        cmocka_unit_test(switches_and_new_threads_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
