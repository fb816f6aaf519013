/* SPDX-License-Identifier: MIT */
/* Sets of events that are replaced: the events are those of this thread, from the kernel. */
#include "record/perf_ring/thread_events.h"

#include "record/events/event_attr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <cmocka.h>

/* One event of this thread that samples nothing. */
static struct event_set *open_set(uint64_t *id)
{
    struct perf_event_attr attr = event_attr_clock(0);
    attr.disabled = 0;
    int fd = event_open(&attr, 0, -1, 0);
    if (fd < 0)
        skip();
    struct event_set *set = event_set_new();
    set->fds = malloc(sizeof(*set->fds));
    set->fds[0] = fd;
    set->count = set->capacity = set->group = set->clocks = 1;
    set->stack_bytes = 1000;
    assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ID, id), 0);
    return set;
}

static void of_two_events_one_counts_at_each_time(void **state)
{
    (void)state;
    uint64_t small_id, large_id;
    struct event_set *set = open_set(&small_id), *larger = open_set(&large_id);
    assert_true(event_set_has(set, small_id, 0));
    event_set_await(set, larger);
    assert_true(event_set_has(set, small_id, 500));
    assert_false(event_set_has(set, large_id, 500));
    event_set_replace(set, larger, 400);
    assert_true(event_set_has(set, small_id, 399));
    assert_false(event_set_has(set, large_id, 399));
    assert_false(event_set_has(set, small_id, 400));
    assert_true(event_set_has(set, large_id, 400));
    event_set_release(larger);
    event_set_release(set);
}

static uint64_t burn(uint64_t rounds)
{
    uint64_t value = 1;
    for (uint64_t i = 0; i < rounds; i++) {
        value += value << 7 ^ i;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

/* The time in which both events counted is in the sum once. */
static void the_count_goes_on(void **state)
{
    (void)state;
    enum { ROUNDS = 10000000 };
    uint64_t id;
    struct event_set *whole = open_set(&id), *set = open_set(&id);
    burn(ROUNDS);
    struct event_set *larger = open_set(&id);
    event_set_await(set, larger);
    burn(ROUNDS);
    event_set_replace(set, larger, 1);
    burn(ROUNDS);
    double ratio = (double)event_set_count_ns(set) / (double)event_set_count_ns(whole);
    assert_true(ratio > 0.9 && ratio < 1.1);
    assert_int_equal(larger->count, 0);
    event_set_release(larger);
    event_set_release(whole);
    event_set_release(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_events_one_counts_at_each_time),
        cmocka_unit_test(the_count_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
