/* SPDX-License-Identifier: MIT */
/* From the processor's counter to CLOCK_MONOTONIC: never backwards, no jumps, right. */
#include "arch/own.h"
#include "record/sample/tsc_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* A counter of 2.5 GHz that the readings say runs a little fast, then a little slow: as far as two
 * readings of real clocks differ after an interruption, and more. */
static const struct tsc_clock uneven = {
    .first = {.ticks = 1000000000, .ns = 50000000000},
    .previous = {.ticks = 1000000000 + 2500000000, .ns = 50000000000 + 1000010000},
    .latest = {.ticks = 1000000000 + 2525000000, .ns = 50000000000 + 1010000000},
};

static void is_monotone_and_without_jumps(const struct tsc_clock *clock)
{
    uint64_t start = clock->first.ticks - 500000000;
    uint64_t end = clock->latest.ticks + 500000000;
    const uint64_t step = 1237;
    uint64_t last_ns = tsc_to_ns(clock, start);
    for (uint64_t ticks = start + step; ticks < end; ticks += step) {
        uint64_t ns = tsc_to_ns(clock, ticks);
        if (ns < last_ns || ns - last_ns > 2 * step)
            fail_msg("%lu ns at %lu ticks, then %lu ns", (unsigned long)last_ns,
                     (unsigned long)(ticks - step), (unsigned long)ns);
        last_ns = ns;
    }
}

static void time_never_goes_back_or_jumps(void **state)
{
    (void)state;
    is_monotone_and_without_jumps(&uneven);
}

static void before_any_advance_too(void **state)
{
    (void)state;
    struct tsc_clock clock;
    tsc_clock_start(&clock);
    is_monotone_and_without_jumps(&clock);
}

static void readings_convert_to_themselves(void **state)
{
    (void)state;
    assert_true(tsc_to_ns(&uneven, uneven.first.ticks) == uneven.first.ns);
    assert_true(tsc_to_ns(&uneven, uneven.previous.ticks) == uneven.previous.ns);
    assert_true(tsc_to_ns(&uneven, uneven.latest.ticks) == uneven.latest.ns);
}

static void between_two_readings_it_is_a_straight_line(void **state)
{
    (void)state;
    /* 25 000 000 ticks in 9 990 000 ns. */
    assert_true(tsc_to_ns(&uneven, uneven.previous.ticks + 12500000) ==
                uneven.previous.ns + 4995000);
    assert_true(tsc_to_ns(&uneven, uneven.latest.ticks + 2500000) == uneven.latest.ns + 999000);
    assert_int_equal(tsc_span_ns(&uneven, 2500000), 999000);
}

/* A target can write any number. */
static void absurd_ticks_neither_trap_nor_wrap_below_zero(void **state)
{
    (void)state;
    assert_int_equal(tsc_to_ns(&uneven, 0), 50000000000 - 399600000);
    struct tsc_clock young = uneven;
    young.first.ns = 5;
    assert_int_equal(tsc_to_ns(&young, 0), 0);
    tsc_to_ns(&uneven, UINT64_MAX);
    tsc_span_ns(&uneven, UINT64_MAX);
    struct tsc_clock still = {.first = {7, 7}, .previous = {7, 7}, .latest = {7, 7}};
    assert_int_equal(tsc_to_ns(&still, 100), 7);
}

/* Over hours a product of two 64-bit numbers does not fit 64 bits. */
static void a_day_of_recording_does_not_overflow(void **state)
{
    (void)state;
    const uint64_t day_ticks = UINT64_C(86400) * 2500000000;
    const uint64_t day_ns = UINT64_C(86400) * 1000000000;
    struct tsc_clock clock = {.first = {1, 1},
                              .previous = {1 + day_ticks, 1 + day_ns},
                              .latest = {1 + 2 * day_ticks, 1 + 2 * day_ns}};
    assert_true(tsc_to_ns(&clock, 1 + day_ticks / 2) == 1 + day_ns / 2);
    assert_true(tsc_to_ns(&clock, 1 + day_ticks * 3 / 2) == 1 + day_ns * 3 / 2);
}

static void pause_ns(long ns)
{
    struct timespec wait = {.tv_nsec = ns};
    nanosleep(&wait, NULL);
}

/* Preemption between two readings makes one try useless, not all of a hundred. */
static void the_real_counter_agrees_with_the_real_clock(void **state)
{
    (void)state;
    struct tsc_clock clock;
    tsc_clock_start(&clock);
    uint64_t worst_ns = UINT64_MAX;
    for (int i = 0; i < 100 && worst_ns > 20000; i++) {
        pause_ns(2000000);
        uint64_t before_ns = monotonic_ns();
        uint64_t ticks = arch_ticks();
        uint64_t after_ns = monotonic_ns();
        uint64_t advanced_ns = tsc_clock_advance(&clock);
        assert_true(advanced_ns >= after_ns);
        uint64_t ns = tsc_to_ns(&clock, ticks);
        uint64_t early_ns = ns < before_ns ? before_ns - ns : 0;
        uint64_t late_ns = ns > after_ns ? ns - after_ns : 0;
        worst_ns = early_ns > late_ns ? early_ns : late_ns;
    }
    assert_in_range(worst_ns, 0, 20000);
}

static void readings_that_are_too_close_do_not_make_a_rate(void **state)
{
    (void)state;
    struct tsc_clock clock;
    tsc_clock_start(&clock);
    for (int i = 0; i < 1000; i++)
        tsc_clock_advance(&clock);
    uint64_t rate = (clock.latest.ticks - clock.previous.ticks) * 1000000000 /
                    (clock.latest.ns - clock.previous.ns);
    assert_in_range(rate, tsc_per_second() / 10 * 9, tsc_per_second() / 10 * 11);
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The first call of tsc_per_second() in this process: later calls return the same rate. */
static void the_rate_is_measured_during_other_work(void **state)
{
    (void)state;
    struct timespec other_work = {.tv_nsec = 20000000};
    uint64_t ticks = arch_ticks(), start_ns = monotonic_ns();
    tsc_measure();
    nanosleep(&other_work, NULL);
    uint64_t before_ns = thread_cpu_ns();
    uint64_t rate = tsc_per_second();
    assert_true(thread_cpu_ns() - before_ns < 150000);
    double seconds = (double)(monotonic_ns() - start_ns) / 1e9;
    double expected = (double)(arch_ticks() - ticks) / seconds;
    assert_true((double)rate > 0.99 * expected && (double)rate < 1.01 * expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_is_measured_during_other_work),
        cmocka_unit_test(time_never_goes_back_or_jumps),
        cmocka_unit_test(before_any_advance_too),
        cmocka_unit_test(readings_convert_to_themselves),
        cmocka_unit_test(between_two_readings_it_is_a_straight_line),
        cmocka_unit_test(absurd_ticks_neither_trap_nor_wrap_below_zero),
        cmocka_unit_test(a_day_of_recording_does_not_overflow),
        cmocka_unit_test(the_real_counter_agrees_with_the_real_clock),
        cmocka_unit_test(readings_that_are_too_close_do_not_make_a_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
