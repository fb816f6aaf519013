/* SPDX-License-Identifier: MIT */
/* Which waits are markers in a Firefox file. */
#include "export/export.h"

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
        TEST(sums_are_no_markers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
