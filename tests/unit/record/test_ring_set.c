/* SPDX-License-Identifier: MIT */
#include "record/perf_ring/rings/ring_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { CLOCK, FAULTS, EVENTS };

static struct ring_set opened(enum ring_load load)
{
    struct ring_set set;
    const struct ring_demand demand = {.events = EVENTS, .clocks = 1u << CLOCK, .load = load};
    if (ring_set_open(&set, &demand) != 0) {
        ring_set_close(&set);
        skip(); /* no right to open events */
    }
    return set;
}

static size_t bytes_of(const struct ring_set *set, uint32_t event)
{
    size_t i = 0;
    while (i < set->count && set->rings[i].event != event)
        i++;
    assert_true(i < set->count);
    return set->rings[i].data_bytes;
}

static void next_to_bursts_a_clock_takes_little_of_the_locked_memory(void **state)
{
    (void)state;
    struct ring_set set = opened(RING_BURSTS);
    size_t clock_bytes = bytes_of(&set, CLOCK), burst_bytes = bytes_of(&set, FAULTS);
    size_t least_bytes = ring_set_ring_bytes(&set);
    ring_set_close(&set);
    assert_true(clock_bytes <= burst_bytes);
    assert_true(burst_bytes <= 256 << 10 || clock_bytes < burst_bytes);
    assert_int_equal(least_bytes, burst_bytes);
}

static void events_of_one_rate_have_equal_rings(void **state)
{
    (void)state;
    struct ring_set set = opened(RING_SAMPLES);
    size_t first_bytes = bytes_of(&set, CLOCK), second_bytes = bytes_of(&set, FAULTS);
    ring_set_close(&set);
    assert_int_equal(first_bytes, second_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_to_bursts_a_clock_takes_little_of_the_locked_memory),
        cmocka_unit_test(events_of_one_rate_have_equal_rings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
