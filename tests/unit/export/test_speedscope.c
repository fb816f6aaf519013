/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include "build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void expect_profiles(struct profile *profile, const char *profiles)
{
    struct buffer out = {0};
    struct error error;
    profile_link_stacks(profile);
    assert_int_equal(export_to_buffer(&export_speedscope, profile, NULL, false, &out, &error), 0);
    buffer_u8(&out, 0);
    const char *found = strstr((const char *)out.bytes, "\"profiles\":");
    assert_non_null(found);
    assert_string_equal(found, profiles);
    buffer_free(&out);
    profile_free(profile);
}

static struct profile *profile_of_one_thread(void)
{
    struct profile *profile = profile_new();
    build_process(profile, 7, "app");
    build_thread(profile, 0, 7, true, 0);
    return profile;
}

static void neighbouring_samples_of_one_stack_become_one(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_sample(profile, 0, "a", 1);
    build_sample(profile, 0, "a;b", 2);
    build_sample(profile, 0, "a;b", 4);
    build_sample(profile, 0, "a;b", 8);
    build_sample(profile, 0, "a", 16);
    expect_profiles(profile, "\"profiles\":[{\"type\":\"sampled\",\"name\":\"app (7)\","
                             "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":31,"
                             "\"samples\":[[0],[0,1],[0]],\"weights\":[1,14,16]}]}");
}

static void threads_without_samples_are_not_shown_beside_others(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_thread(profile, 0, 8, false, 0);
    build_sample(profile, 1, "a", 1);
    expect_profiles(profile, "\"profiles\":[{\"type\":\"sampled\",\"name\":\"app (7) thread (8)\","
                             "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":1,"
                             "\"samples\":[[0]],\"weights\":[1]}]}");
}

static void the_first_profile_has_all_threads(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_thread(profile, 0, 8, false, 0);
    build_sample(profile, 0, "a", 1);
    build_sample(profile, 1, "a", 2);
    build_sample(profile, 1, "b", 4);
    expect_profiles(profile, "\"profiles\":[{\"type\":\"sampled\",\"name\":\"all 2 threads\","
                             "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":7,"
                             "\"samples\":[[0],[0],[1]],\"weights\":[1,2,4]},"
                             "{\"type\":\"sampled\",\"name\":\"app (7)\","
                             "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":1,"
                             "\"samples\":[[0]],\"weights\":[1]},"
                             "{\"type\":\"sampled\",\"name\":\"app (7) thread (8)\","
                             "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":6,"
                             "\"samples\":[[0],[1]],\"weights\":[2,4]}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbouring_samples_of_one_stack_become_one),
        cmocka_unit_test(threads_without_samples_are_not_shown_beside_others),
        cmocka_unit_test(the_first_profile_has_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
