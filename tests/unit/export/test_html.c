/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include "../profile/waiting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static char *page_of(struct profile *profile)
{
    struct buffer out = {0};
    struct error error;
    profile_link_stacks(profile);
    assert_int_equal(export_to_buffer(&export_html, profile, NULL, false, &out, &error), 0);
    buffer_u8(&out, 0);
    assert_false(out.failed);
    profile_free(profile);
    return (char *)out.bytes;
}

static unsigned count(const char *text, const char *part)
{
    unsigned found = 0;
    for (; (text = strstr(text, part)); text++)
        found++;
    return found;
}

static struct profile *profile_of_one_thread(void)
{
    struct profile *profile = profile_new();
    build_process(profile, 7, "app");
    build_thread(profile, 0, 7, true, 0);
    return profile;
}

static void expect_part(struct profile *profile, const char *part)
{
    char *page = page_of(profile);
    if (!strstr(page, part))
        fail_msg("no %s in %s", part, strstr(page, "\"functions\":"));
    free(page);
}

static void stacks_become_a_tree_with_distances_to_parents(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_sample(profile, 0, "a;b", 3);
    build_sample(profile, 0, "a;c", 4);
    build_sample(profile, 0, "d", 5);
    build_sample(profile, 0, "a;b", 6);
    expect_part(profile, "\"nodes\":{\"up\":[0,1,2,0],\"frame\":[0,1,2,3]},"
                         "\"lists\":[{\"thread\":0,\"event\":0,\"samples\":4,"
                         "\"nodes\":[1,1,1],\"weights\":[9,4,5]}]");
}

/* The leaf of an off-CPU sample is a reason, unlike other frames without code. */
static void reasons_of_waits_are_a_kind_of_their_own(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    build_time_events(profile);
    build_process(profile, 7, "app");
    build_thread(profile, 0, 7, true, 0);
    build_wait(profile, 0, "main;[waiting: lock]", 100, 50);
    build_wait(profile, 0, "main;[exit]", 200, 50);
    expect_part(profile, "\"frames\":{\"function\":[0,1,2],\"kind\":[0,5,4]}");
}

static void recursion_keeps_its_levels(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_sample(profile, 0, "a;a;a", 1);
    expect_part(profile, "\"nodes\":{\"up\":[0,1,1],\"frame\":[0,0,0]}");
}

static void unnamed_functions_of_a_lib_are_one(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_sample(profile, 0, "0x10", 1);
    build_sample(profile, 0, "0x20", 2);
    expect_part(profile, "\"nodes\":{\"up\":[0],\"frame\":[0]},"
                         "\"lists\":[{\"thread\":0,\"event\":0,\"samples\":2,"
                         "\"nodes\":[0],\"weights\":[3]}],\"strings\":[\"[unknown]\"]");
}

static void each_thread_has_its_own_sums(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_thread(profile, 0, 8, false, 0);
    build_sample(profile, 0, "a", 1);
    build_sample(profile, 1, "b", 2);
    build_sample(profile, 1, "a", 4);
    expect_part(profile, "\"lists\":[{\"thread\":0,\"event\":0,\"samples\":1,"
                         "\"nodes\":[0],\"weights\":[1]},"
                         "{\"thread\":1,\"event\":0,\"samples\":2,"
                         "\"nodes\":[0,1],\"weights\":[4,2]}]");
}

/* Names end neither the element of the data nor the script, in whatever place they stand. */
static void names_do_not_become_markup(void **state)
{
    (void)state;
    static const char *const names[] = {
        "</script><script>alert(1)</script>",
        "<!--",
        "</SCRIPT >",
        "\xff\xe2\x80\xa8<img src=x>",
    };
    struct profile *plain = profile_of_one_thread();
    build_sample(plain, 0, "a", 1);
    char *expected = page_of(plain);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct profile *profile = profile_new();
        build_process(profile, 7, names[i]);
        build_thread(profile, 0, 7, true, 0);
        profile->threads[0].name = profile_string(profile, names[i]);
        profile->product = profile->command_line = profile_string(profile, names[i]);
        profile_add_note(profile, names[i], names[i]);
        build_sample(profile, 0, names[i], 1);
        char *page = page_of(profile);
        assert_int_equal(count(page, "</script"), count(expected, "</script"));
        assert_int_equal(count(page, "</SCRIPT"), 0);
        assert_int_equal(count(page, "<!"), count(expected, "<!"));
        assert_int_equal(count(page, "\xff"), 0);
        assert_int_equal(count(page, "\xe2\x80\xa8"), 0);
        free(page);
    }
    free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_become_a_tree_with_distances_to_parents),
        cmocka_unit_test(reasons_of_waits_are_a_kind_of_their_own),
        cmocka_unit_test(recursion_keeps_its_levels),
        cmocka_unit_test(unnamed_functions_of_a_lib_are_one),
        cmocka_unit_test(each_thread_has_its_own_sums),
        cmocka_unit_test(names_do_not_become_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
