/* SPDX-License-Identifier: MIT */
/* The collector's sleep: short while something is under way, long when nothing happens, safe for full rings. */
#include "record/sample/poll_interval.h"

#include "wire/records.h"
#include "wire/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MS = 1000000 };

static struct poll_interval started(uint64_t period_ns)
{
    struct poll_interval poll;
    poll_interval_start(&poll, period_ns);
    return poll;
}

static void quiet_rounds_double_up_to_a_limit(void **state)
{
    (void)state;
    struct poll_interval poll = started(MS);
    const struct poll_facts nothing = {0};
    uint64_t last_ns = ROUND_MIN_NS;
    for (int i = 0; i < 5; i++) {
        uint64_t wait_ns = poll_interval_next(&poll, &nothing, false);
        assert_int_equal(wait_ns, last_ns * 2 < 32 * MS ? last_ns * 2 : 32 * MS);
        last_ns = wait_ns;
    }
    assert_int_equal(poll_interval_next(&poll, &nothing, false), 32 * MS);
}

/* A program at its start has 70 000 page faults a second, and each one is a copied stack. */
static void bursts_allow_the_shortest_sleeps_only(void **state)
{
    (void)state;
    struct poll_interval poll = started(0);
    const struct poll_facts silent = {.silent_ns = UINT64_C(1000) * MS};
    assert_false(poll_interval_is_idle(&poll, &silent));
    for (int i = 0; i < 3; i++)
        assert_int_equal(poll_interval_next(&poll, &silent, false), ROUND_MIN_NS);
    const struct poll_facts rung = {.was_rung = true};
    assert_int_equal(poll_interval_next(&poll, &rung, false), ROUND_MIN_NS);
}

/* A ring of deep stacks is full after 62 samples. */
static void rates_whose_rings_fill_within_a_long_sleep_are_short(void **state)
{
    (void)state;
    assert_false(started(MS).is_short);
    assert_true(started(MS / 10).is_short);
    assert_true(started(0).is_short);
}

/* The perf rings ask for a round without a sleep while they have records left. */
static void a_round_without_a_sleep_is_followed_by_sleeps(void **state)
{
    (void)state;
    for (uint64_t fullest_bytes = 0; fullest_bytes < SESSION_RING_BYTES;
         fullest_bytes += SESSION_RING_BYTES / 8) {
        struct poll_interval poll = started(MS);
        poll.wait_ns = 0;
        assert_true(poll_interval_next(&poll, &(struct poll_facts){.fullest_bytes = fullest_bytes},
                                       false) >= ROUND_MIN_NS);
    }
}

/* Not even the deepest stacks fill a ring during the longest sleep. */
static void the_longest_sleep_fits_the_rate(void **state)
{
    (void)state;
    static const uint64_t periods_ns[] = {50000, 100000, 1001001, 20000000};
    for (size_t i = 0; i < sizeof(periods_ns) / sizeof(periods_ns[0]); i++) {
        struct poll_interval poll = started(periods_ns[i]);
        uint64_t deepest_bytes = 8 * 1024 + 64;
        for (int round = 0; round < 10; round++)
            poll_interval_next(&poll, &(struct poll_facts){0}, false);
        assert_true(poll.wait_ns / periods_ns[i] * deepest_bytes < SESSION_RING_BYTES);
    }
}

static void what_is_under_way_is_taken_soon(void **state)
{
    (void)state;
    static const struct poll_facts hurried[] = {
        {.has_pending = true},
        {.waits_for_rusage = true},
        {.has_stack_copies = true, .fullest_bytes = SESSION_RING_BYTES / 4},
        {.has_pending = true, .was_rung = true, .silent_ns = UINT64_C(1000) * MS},
    };
    for (size_t i = 0; i < sizeof(hurried) / sizeof(hurried[0]); i++) {
        struct poll_interval poll = started(MS);
        poll.wait_ns = 32 * MS;
        assert_false(poll_interval_is_idle(&poll, &hurried[i]));
        assert_int_equal(poll_interval_next(&poll, &hurried[i], false), ROUND_MIN_NS);
    }
    struct poll_interval poll = started(MS);
    assert_int_equal(poll_interval_next(&poll, &(struct poll_facts){.was_rung = true}, false),
                     4 * MS);
}

/* 60 samples fill a ring with copies of 8 KiB: at most 15 come between two rounds. */
static void copies_at_high_rates_keep_the_sleep_short_for_a_while(void **state)
{
    (void)state;
    const struct poll_facts recent = {.copies_age_ns = 100 * MS}, old = {.copies_age_ns = 300 * MS};
    const struct poll_facts rung = {.was_rung = true, .copies_age_ns = 300 * MS};
    struct poll_interval fast = started(MS / 10), usual = started(MS);
    for (int round = 0; round < 10; round++) {
        assert_true(poll_interval_next(&fast, &recent, false) <= 3 * MS / 2 + MS / 10);
        poll_interval_next(&usual, &recent, false);
    }
    assert_int_equal(usual.wait_ns, 32 * MS);
    assert_true(poll_interval_next(&fast, &rung, false) <= 3 * MS / 2 + MS / 10);
    for (int round = 0; round < 10; round++)
        poll_interval_next(&fast, &old, false);
    assert_int_equal(fast.wait_ns, fast.longest_ns);
}

static void full_rings_halve_the_sleep(void **state)
{
    (void)state;
    struct poll_interval poll = started(MS);
    const struct poll_facts full = {.fullest_bytes = SESSION_RING_BYTES * 3 / 4};
    const struct poll_facts half = {.fullest_bytes = SESSION_RING_BYTES * 3 / 8};
    poll.wait_ns = 16 * MS;
    assert_int_equal(poll_interval_next(&poll, &half, false), 16 * MS);
    assert_int_equal(poll_interval_next(&poll, &full, false), 8 * MS);
    for (int i = 0; i < 10; i++)
        poll_interval_next(&poll, &full, false);
    assert_int_equal(poll.wait_ns, ROUND_MIN_NS);
}

static void only_silence_at_low_rates_is_slept_through(void **state)
{
    (void)state;
    const struct poll_facts silent = {.silent_ns = 300 * MS}, recent = {.silent_ns = 100 * MS};
    struct poll_interval poll = started(MS);
    assert_true(poll_interval_is_idle(&poll, &silent));
    assert_false(poll_interval_is_idle(&poll, &recent));
    assert_int_equal(poll_interval_next(&poll, &silent, true), 900 * MS);
    poll = started(MS / 10); /* 20 ms until the kernel wakes the collector are too long */
    assert_false(poll_interval_is_idle(&poll, &silent));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_rounds_double_up_to_a_limit),
        cmocka_unit_test(bursts_allow_the_shortest_sleeps_only),
        cmocka_unit_test(rates_whose_rings_fill_within_a_long_sleep_are_short),
        cmocka_unit_test(a_round_without_a_sleep_is_followed_by_sleeps),
        cmocka_unit_test(the_longest_sleep_fits_the_rate),
        cmocka_unit_test(what_is_under_way_is_taken_soon),
        cmocka_unit_test(copies_at_high_rates_keep_the_sleep_short_for_a_while),
        cmocka_unit_test(full_rings_halve_the_sleep),
        cmocka_unit_test(only_silence_at_low_rates_is_slept_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
