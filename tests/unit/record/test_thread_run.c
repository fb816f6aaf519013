/* SPDX-License-Identifier: MIT */
/* The intervals of a thread add up to its lifetime, and missing records make no wait. */
#include "record/off_cpu/time/thread_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check(struct run_interval interval, enum run_state state, uint64_t start_ns,
                  uint64_t end_ns)
{
    assert_int_equal(interval.state, state);
    assert_int_equal(interval.start_ns, start_ns);
    assert_int_equal(interval.end_ns, end_ns);
}

static uint64_t lifetime_ns(const struct thread_run *run)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < RUN_STATES; i++)
        sum_ns += run->sums_ns[i];
    return sum_ns;
}

static void records_end_intervals(void **state)
{
    (void)state;
    struct thread_run run = thread_run_begin(RUN_PREEMPTED, 100);
    check(thread_run_in(&run, 110), RUN_PREEMPTED, 100, 110);
    check(thread_run_out(&run, false, 130), RUN_ON, 110, 130);
    check(thread_run_in(&run, 1130), RUN_BLOCKED, 130, 1130);
    check(thread_run_out(&run, true, 1150), RUN_ON, 1130, 1150);
    check(thread_run_in(&run, 1160), RUN_PREEMPTED, 1150, 1160);
    check(thread_run_end(&run, 1200), RUN_ON, 1160, 1200);
    assert_int_equal(run.sums_ns[RUN_BLOCKED], 1000);
    assert_int_equal(run.sums_ns[RUN_PREEMPTED], 20);
    assert_int_equal(run.sums_ns[RUN_ON], 80);
    assert_int_equal(lifetime_ns(&run), 1200 - run.start_ns);
}

static void the_first_record_of_an_older_thread_shows_its_state(void **state)
{
    (void)state;
    struct thread_run waiting = thread_run_begin(RUN_UNSEEN, 100);
    struct thread_run running = waiting, idle = waiting;
    check(thread_run_in(&waiting, 150), RUN_BLOCKED, 100, 150);
    check(thread_run_out(&running, false, 150), RUN_ON, 100, 150);
    check(thread_run_end(&idle, 150), RUN_BLOCKED, 100, 150);
}

static void a_missing_record_makes_no_wait(void **state)
{
    (void)state;
    struct thread_run run = thread_run_begin(RUN_ON, 100);
    thread_run_out(&run, false, 110);
    check(thread_run_out(&run, false, 1000), RUN_LOST, 110, 1000); /* IN is missing */
    thread_run_in(&run, 1010);
    check(thread_run_in(&run, 2000), RUN_LOST, 1010, 2000); /* OUT is missing */
    thread_run_out(&run, false, 2010);
    thread_run_lose(&run); /* of any number of records */
    check(thread_run_in(&run, 3000), RUN_LOST, 2010, 3000);
    check(thread_run_out(&run, false, 3010), RUN_ON, 3000, 3010);
    assert_int_equal(run.sums_ns[RUN_BLOCKED], 10);
    assert_int_equal(lifetime_ns(&run), 3010 - 100);
}

static void clocks_of_processors_may_differ(void **state)
{
    (void)state;
    struct thread_run run = thread_run_begin(RUN_ON, 100);
    thread_run_out(&run, false, 200);
    check(thread_run_in(&run, 199), RUN_BLOCKED, 200, 200);
    assert_int_equal(lifetime_ns(&run), 100);
}

static void a_restart_forgets_the_time_before(void **state)
{
    (void)state;
    struct thread_run run = thread_run_begin(RUN_ON, 100);
    thread_run_out(&run, false, 200);
    thread_run_restart(&run, 1000);
    check(thread_run_in(&run, 1500), RUN_BLOCKED, 1000, 1500);
    assert_int_equal(lifetime_ns(&run), 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_end_intervals),
        cmocka_unit_test(the_first_record_of_an_older_thread_shows_its_state),
        cmocka_unit_test(a_missing_record_makes_no_wait),
        cmocka_unit_test(clocks_of_processors_may_differ),
        cmocka_unit_test(a_restart_forgets_the_time_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
