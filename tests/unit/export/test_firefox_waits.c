/* SPDX-License-Identifier: MIT */
/* Markers of waits, and of calls that start threads, in a Firefox file. */
#include "export/export.h"

#include "export/firefox/firefox.h"

#include "../profile/waiting.h"
#include "profile/wait_objects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define MS UINT64_C(1000000)

static int open_profile(void **state)
{
    struct profile *profile = *state = profile_new();
    build_time_events(profile);
    build_process(profile, 10, "app");
    build_thread(profile, 0, 10, true, 0);
    return 0;
}

static int close_profile(void **state)
{
    profile_free(*state);
    return 0;
}

/* 50 ms without a processor; `intervals` 0: the file has no number. */
static void add_runnable(struct profile *profile, uint64_t start_ns, uint32_t intervals)
{
    const struct profile_sample sample = {.time_ns = start_ns,
                                          .weight = 50 * MS,
                                          .call = build_call(profile, WAITS_RUNNABLE),
                                          .event = 1,
                                          .cpu = PROFILE_NO_CPU};
    profile_add_sample(profile, &sample);
    if (intervals)
        assert_int_equal(profile_add_wait_object(profile, &sample, 0, intervals), 0);
}

static int count_markers(struct profile *profile)
{
    struct buffer out = {0};
    struct error error;
    int count = 0;
    profile_sort_wait_objects(profile);
    profile_link_stacks(profile);
    assert_int_equal(export_to_buffer(&export_firefox, profile, NULL, false, &out, &error), 0);
    buffer_u8(&out, 0);
    static const char mark[] = "{\"type\":\"Wait\"";
    for (const char *at = (const char *)out.bytes; (at = strstr(at, mark)); at++)
        count++;
    buffer_free(&out);
    return count;
}

static void long_waits_and_single_intervals_without_a_processor_are_markers(void **state)
{
    struct profile *profile = *state;
    build_wait(profile, 0, "main;[waiting: lock]", 1000 * MS, 20 * MS);
    build_wait(profile, 0, "main;[waiting: poll]", 2000 * MS, 5 * MS);
    add_runnable(profile, 3000 * MS, 0);
    add_runnable(profile, 4000 * MS, 1);
    assert_int_equal(count_markers(profile), 3);
}

/* 80 ms shared out to a short wait; the next wait starts 30 ms later. */
static void a_share_ends_where_the_next_wait_starts(void **state)
{
    struct profile *profile = *state;
    build_wait(profile, 0, "main;[waiting: lock]", 1000 * MS, 80 * MS);
    build_wait(profile, 0, "main;[waiting: poll]", 1030 * MS, 5 * MS);
    build_wait(profile, 0, "main;[waiting: lock]", 1100 * MS, 80 * MS);
    build_wait(profile, 0, "main;[waiting: poll]", 1104 * MS, 5 * MS);
    profile_link_stacks(profile);
    const struct firefox firefox = {
        .profile = profile, .long_wait_ns = 10 * MS, .wait_kinds = (uint8_t[8]){0}};
    struct profile_waits waits = profile_waits_of(profile, 0);
    struct profile_wait wait;
    assert_true(firefox_next_long_wait(&firefox, &waits, &wait));
    assert_int_equal(wait.start_ns, 1000 * MS);
    assert_int_equal(wait.length_ns, 30 * MS);
    assert_false(firefox_next_long_wait(&firefox, &waits, &wait));
}

static void a_call_that_starts_a_thread_names_the_thread(void **state)
{
    struct profile *profile = *state;
    struct profile_life_event events[] = {
        {.kind = PROFILE_THREAD_CREATED, .time_ns = 5, .by = 0, .thread = PROFILE_NONE},
        {.kind = PROFILE_THREAD_CREATED, .time_ns = 7, .by = 1, .thread = 0},
        {.kind = PROFILE_THREAD_CREATED, .time_ns = 7, .by = 0, .thread = 1},
    };
    struct profile_sample sample = {.time_ns = 7, .thread = 0};
    build_thread(profile, 0, 11, false, 7);
    profile->life_events = events;
    profile->life_event_count = 3;
    const struct firefox firefox = {.profile = profile};
    assert_ptr_equal(firefox_thread_of_sample(&firefox, &sample), &profile->threads[1]);
    sample.time_ns = 5; /* failed, or without a record of the thread */
    assert_null(firefox_thread_of_sample(&firefox, &sample));
    sample.time_ns = 6;
    assert_null(firefox_thread_of_sample(&firefox, &sample));
    profile->life_events = NULL;
    profile->life_event_count = 0;
}

static void sums_are_no_markers(void **state)
{
    struct profile *profile = *state;
    build_wait(profile, 0, WAITS_SHORT, 1000 * MS, 400 * MS);
    add_runnable(profile, 2000 * MS, 2);
    add_runnable(profile, 3000 * MS, 900);
    assert_int_equal(count_markers(profile), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_profile, close_profile)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(long_waits_and_single_intervals_without_a_processor_are_markers),
        TEST(a_share_ends_where_the_next_wait_starts),
        TEST(a_call_that_starts_a_thread_names_the_thread),
        TEST(sums_are_no_markers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
