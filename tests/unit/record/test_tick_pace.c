/* SPDX-License-Identifier: MIT */
/* Ticks of any cost take a tenth of a processor, besides the burst; longer ticks last as long as they are needed. */
#include "record/off_cpu/time/tick_pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define BURST_NS UINT64_C(500000000)

struct run {
    uint64_t now_ns, cpu_ns, ticks;
};

/* A tick as soon as the interval and the pace permit, each of this cost, until the time. */
static void run(struct run *run, struct tick_pace *pace, uint64_t interval_ns, uint64_t cost_ns,
                uint64_t until_ns)
{
    while (run->now_ns < until_ns) {
        run->cpu_ns += cost_ns;
        run->ticks++;
        uint64_t due_ns = tick_pace_take(pace, run->now_ns, run->cpu_ns);
        run->now_ns += interval_ns;
        if (run->now_ns < due_ns)
            run->now_ns = due_ns;
    }
}

static void ticks_take_a_tenth_of_the_time_and_a_burst(void **state)
{
    (void)state;
    static const uint64_t costs_ns[] = {200000, 1 * MS, 5 * MS, 300 * MS};
    for (size_t i = 0; i < sizeof(costs_ns) / sizeof(costs_ns[0]); i++) {
        struct tick_pace pace = {.asked_ns = MS};
        struct run all = {.now_ns = 5000 * MS};
        run(&all, &pace, MS, costs_ns[i], 25000 * MS);
        assert_in_range(all.cpu_ns, 2000 * MS - costs_ns[i], 2000 * MS + BURST_NS + costs_ns[i]);
    }
}

static void cheap_ticks_do_not_rest(void **state)
{
    (void)state;
    struct tick_pace pace = {.asked_ns = MS};
    struct run all = {.now_ns = 5000 * MS};
    run(&all, &pace, MS, MS / 11, 25000 * MS);
    assert_int_equal(all.ticks, 20000);
    assert_int_equal(tick_pace_next(&pace, MS), MS);
}

/* The start of a thousand threads, then nothing: the ticks keep their length. */
static void a_burst_does_not_change_the_ticks(void **state)
{
    (void)state;
    struct tick_pace pace = {.asked_ns = 10 * MS};
    struct run all = {.now_ns = 5000 * MS};
    run(&all, &pace, 10 * MS, 450 * MS, 5001 * MS);
    run(&all, &pace, 10 * MS, 10000, 6000 * MS);
    assert_int_equal(all.ticks, 100);
    assert_int_equal(tick_pace_next(&pace, 10 * MS), 10 * MS);
}

static void ticks_are_as_long_as_their_cost_demands(void **state)
{
    (void)state;
    struct tick_pace pace = {.asked_ns = MS};
    struct run all = {.now_ns = 5000 * MS};
    run(&all, &pace, MS, 2 * MS, 6000 * MS);
    assert_int_equal(tick_pace_next(&pace, MS), 20 * MS);
    run(&all, &pace, 20 * MS, 2 * MS, 7000 * MS);
    assert_int_equal(tick_pace_next(&pace, 20 * MS), 20 * MS);
    uint64_t interval_ns = 20 * MS;
    for (uint64_t second = 8; second < 16; second++) {
        run(&all, &pace, interval_ns, 20000, second * 1000 * MS);
        interval_ns = tick_pace_next(&pace, interval_ns);
    }
    assert_int_equal(interval_ns, MS);
}

static void ticks_are_at_most_a_quarter_of_a_second_long(void **state)
{
    (void)state;
    struct tick_pace pace = {.asked_ns = 10 * MS};
    struct run all = {.now_ns = 5000 * MS};
    run(&all, &pace, 10 * MS, 200 * MS, 15000 * MS);
    assert_int_equal(tick_pace_next(&pace, 10 * MS), 250 * MS);
    pace = (struct tick_pace){.asked_ns = 1000 * MS};
    run(&all, &pace, 1000 * MS, 200 * MS, 35000 * MS);
    assert_int_equal(tick_pace_next(&pace, 1000 * MS), 1000 * MS);
}

static void a_window_without_ticks_makes_them_shorter(void **state)
{
    (void)state;
    struct tick_pace pace = {.asked_ns = 10 * MS};
    assert_int_equal(tick_pace_next(&pace, 30 * MS), 15 * MS);
    assert_int_equal(tick_pace_next(&pace, 15 * MS), 10 * MS);
    assert_int_equal(tick_pace_next(&pace, 10 * MS), 10 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_take_a_tenth_of_the_time_and_a_burst),
        cmocka_unit_test(cheap_ticks_do_not_rest),
        cmocka_unit_test(a_burst_does_not_change_the_ticks),
        cmocka_unit_test(ticks_are_as_long_as_their_cost_demands),
        cmocka_unit_test(ticks_are_at_most_a_quarter_of_a_second_long),
        cmocka_unit_test(a_window_without_ticks_makes_them_shorter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
