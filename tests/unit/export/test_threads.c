/* SPDX-License-Identifier: MIT */
#include "export/threads.h"

#include "build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static int open_profile(void **state)
{
    *state = profile_new();
    return 0;
}

static int close_profile(void **state)
{
    profile_free(*state);
    return 0;
}

/* "tid*:COUNT …", the star for the main thread. */
static void expect(struct profile *profile, const char *expected)
{
    struct thread_list list;
    assert_int_equal(thread_list_collect(&list, profile, 0), 0);
    char text[256] = "";
    for (size_t i = 0; i < list.count; i++) {
        const struct thread_view *view = &list.views[i];
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u%s:", i ? " " : "",
                 profile->threads[view->thread].tid, view->is_main ? "*" : "");
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%zu", view->sample_count);
    }
    thread_list_free(&list);
    assert_string_equal(text, expected);
}

static void threads_come_by_process_main_first_then_by_creation(void **state)
{
    struct profile *profile = *state;
    build_process(profile, 10, "a");
    build_process(profile, 20, "b");
    build_thread(profile, 1, 20, true, 50);
    build_thread(profile, 0, 12, false, 30);
    build_thread(profile, 0, 11, false, 20);
    build_thread(profile, 0, 10, true, 40);
    for (uint32_t i = 0; i < 8; i++)
        build_sample(profile, i % 4, "f", 1);
    expect(profile, "10*:2 11:2 12:2 20*:2");
}

/* Of two that start at one time either may be seen first, and ids begin again after the largest. */
static void the_order_is_that_of_creation_however_threads_were_seen(void **state)
{
    struct profile *profile = *state;
    build_process(profile, 30, "first");
    build_process(profile, 5, "after the largest id");
    build_process(profile, 32, "third");
    build_process(profile, 31, "second");
    build_thread(profile, 0, 30, true, 0);
    build_thread(profile, 0, 6, false, 3);
    build_thread(profile, 0, 40, false, 2);
    build_thread(profile, 0, 39, false, 9);
    build_thread(profile, 1, 5, true, 1);
    build_thread(profile, 2, 32, true, 1);
    build_thread(profile, 3, 31, true, 2);
    for (uint32_t i = 0; i < 7; i++)
        build_sample(profile, i, "f", 1);
    expect(profile, "30*:1 39:1 40:1 6:1 31*:1 32*:1 5*:1");
}

static void a_main_thread_is_shown_when_its_process_has_samples(void **state)
{
    struct profile *profile = *state;
    build_process(profile, 10, "works");
    build_process(profile, 20, "idle");
    build_thread(profile, 0, 10, true, 0);
    build_thread(profile, 0, 11, false, 0);
    build_thread(profile, 0, 12, false, 0);
    build_thread(profile, 1, 20, true, 0);
    build_sample(profile, 1, "f", 1);
    expect(profile, "10*:0 11:1");
}

static void a_process_whose_main_thread_was_never_seen_gets_one(void **state)
{
    struct profile *profile = *state;
    build_process(profile, 10, "a");
    build_thread(profile, 0, 11, false, 1);
    build_thread(profile, 0, 12, false, 2);
    build_sample(profile, 1, "f", 1);
    expect(profile, "12*:1");
    build_sample(profile, 0, "f", 1);
    expect(profile, "11*:1 12:1");
}

static void a_recording_without_samples_shows_all_main_threads(void **state)
{
    struct profile *profile = *state;
    expect(profile, "");
    build_process(profile, 10, "a");
    build_process(profile, 20, "b");
    build_thread(profile, 0, 10, true, 0);
    build_thread(profile, 0, 11, false, 0);
    build_thread(profile, 1, 20, true, 0);
    expect(profile, "10*:0 20*:0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_profile, close_profile)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_come_by_process_main_first_then_by_creation),
        TEST(the_order_is_that_of_creation_however_threads_were_seen),
        TEST(a_main_thread_is_shown_when_its_process_has_samples),
        TEST(a_process_whose_main_thread_was_never_seen_gets_one),
        TEST(a_recording_without_samples_shows_all_main_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
