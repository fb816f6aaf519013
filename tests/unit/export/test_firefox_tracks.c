/* SPDX-License-Identifier: MIT */
/* Which threads a Firefox file shows and selects when it is opened. */
#include "export/export.h"

#include "build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static int open_profile(void **state)
{
    *state = profile_new();
    profile_add_event(
        *state, &(struct profile_event){.name = profile_string(*state, "cpu-clock"), .period = 1});
    return 0;
}

static int close_profile(void **state)
{
    profile_free(*state);
    return 0;
}

/* Threads are listed as "0,1", as in the file. */
static void expect(struct profile *profile, const char *visible, const char *selected)
{
    char text[512];
    struct buffer out = {0};
    struct error error;
    profile_link_stacks(profile);
    assert_int_equal(export_to_buffer(&export_firefox, profile, NULL, false, &out, &error), 0);
    buffer_u8(&out, 0);
    const char *found = strstr((const char *)out.bytes, "\"initialVisibleThreads\"");
    assert_non_null(found);
    snprintf(text, sizeof(text),
             "\"initialVisibleThreads\":[%s],\"initialSelectedThreads\":[%s],\"", visible,
             selected);
    assert_int_equal(strncmp(found, text, strlen(text)), 0);
    buffer_free(&out);
}

/* A process of one thread. */
static void add_process(struct profile *profile, int32_t pid, uint64_t weight)
{
    build_process(profile, pid, "app");
    build_thread(profile, (uint32_t)profile->process_count - 1, pid, true, 0);
    if (weight)
        build_sample(profile, (uint32_t)profile->thread_count - 1, "main", weight);
}

static void add_thread(struct profile *profile, int32_t tid, uint64_t weight)
{
    build_thread(profile, (uint32_t)profile->process_count - 1, tid, false, 0);
    if (weight)
        build_sample(profile, (uint32_t)profile->thread_count - 1, "main", weight);
}

static void threads_are_visible_until_98_percent_are_covered(void **state)
{
    struct profile *profile = *state;
    add_process(profile, 10, 100);
    add_process(profile, 20, 590);
    add_process(profile, 30, 11);
    add_process(profile, 40, 290);
    add_process(profile, 50, 9);
    expect(profile, "0,1,3", "1");
}

static void at_most_25_threads_are_visible(void **state)
{
    struct profile *profile = *state;
    for (int32_t pid = 1; pid <= 40; pid++)
        add_process(profile, pid, pid <= 10 ? 1 : 2);
    expect(profile, "10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34",
           "10");
}

static void the_main_thread_of_a_visible_thread_is_visible(void **state)
{
    struct profile *profile = *state;
    add_process(profile, 10, 1);
    add_process(profile, 20, 0);
    add_thread(profile, 21, 1000);
    expect(profile, "1,2", "2");
}

static void all_threads_of_a_process_without_a_busiest_thread_are_selected(void **state)
{
    struct profile *profile = *state;
    add_process(profile, 10, 500);
    add_process(profile, 20, 0);
    add_thread(profile, 21, 400);
    add_thread(profile, 22, 400);
    add_thread(profile, 23, 1);
    add_thread(profile, 24, 400);
    expect(profile, "0,1,2,3,5", "1,2,3,5");
}

static void tracks_of_other_events_are_visible_with_their_threads(void **state)
{
    struct profile *profile = *state;
    add_process(profile, 10, 1000);
    add_process(profile, 20, 1);
    profile_add_event(profile, &(struct profile_event){.name = profile_string(profile, "faults"),
                                                       .unit = PROFILE_COUNT});
    for (uint32_t thread = 0; thread < 2; thread++)
        profile_add_sample(profile,
                           &(struct profile_sample){
                               .thread = thread, .event = 1, .weight = 1, .call = PROFILE_NONE});
    expect(profile, "0,2", "0");
}

static void without_cpu_time_the_threads_with_most_samples_of_other_events_are_visible(void **state)
{
    struct profile *profile = *state;
    add_process(profile, 10, 0);
    add_process(profile, 20, 0);
    profile_add_event(profile, &(struct profile_event){.name = profile_string(profile, "faults"),
                                                       .unit = PROFILE_COUNT});
    profile_add_sample(profile, &(struct profile_sample){
                                    .thread = 1, .event = 1, .weight = 1, .call = PROFILE_NONE});
    expect(profile, "1,2", "1");
}

static void without_any_sample_25_threads_are_visible(void **state)
{
    struct profile *profile = *state;
    for (int32_t pid = 1; pid <= 30; pid++)
        add_process(profile, pid, 0);
    expect(profile, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24", "0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_profile, close_profile)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_are_visible_until_98_percent_are_covered),
        TEST(at_most_25_threads_are_visible),
        TEST(the_main_thread_of_a_visible_thread_is_visible),
        TEST(all_threads_of_a_process_without_a_busiest_thread_are_selected),
        TEST(tracks_of_other_events_are_visible_with_their_threads),
        TEST(without_cpu_time_the_threads_with_most_samples_of_other_events_are_visible),
        TEST(without_any_sample_25_threads_are_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
