/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include "build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static char *picture_of(struct profile *profile)
{
    struct buffer out = {0};
    struct error error;
    profile_link_stacks(profile);
    assert_int_equal(export_to_buffer(&export_svg, profile, NULL, false, &out, &error), 0);
    buffer_u8(&out, 0);
    assert_false(out.failed);
    profile_free(profile);
    return (char *)out.bytes;
}

static struct profile *profile_of_one_thread(void)
{
    struct profile *profile = profile_new();
    build_process(profile, 7, "app");
    build_thread(profile, 0, 7, true, 0);
    return profile;
}

static void expect_parts(struct profile *profile, const char *const *parts)
{
    char *picture = picture_of(profile);
    for (; *parts; parts++)
        if (!strstr(picture, *parts))
            fail_msg("no %s in\n%s", *parts, picture);
    free(picture);
}

/* 1180 pixels between the margins of 10; the heavier child first; boxes leave 0.5 pixels free. */
static void boxes_have_the_width_of_their_weight(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_sample(profile, 0, "a;b", 250000);
    build_sample(profile, 0, "a;c", 700000);
    build_sample(profile, 0, "d", 50000);
    expect_parts(profile,
                 (const char *const[]){
                     "<rect x=\"10.0\" y=\"46\" width=\"1120.5\"",
                     "<rect x=\"10.0\" y=\"63\" width=\"825.5\"",
                     "<rect x=\"836.0\" y=\"63\" width=\"294.5\"",
                     "<rect x=\"1131.0\" y=\"46\" width=\"58.5\"",
                     "<title>a\nprogram\ntotal 0.9 ms (95.0 %), self 0.0 ms (0.0 %)</title>",
                     "<title>c\nprogram\ntotal 0.7 ms (70.0 %), self 0.7 ms (70.0 %)</title>",
                     NULL,
                 });
}

static void names_are_cut_to_their_boxes(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_sample(profile, 0, "a_name_of_23_characters", 10);
    build_sample(profile, 0, "b", 80);
    build_sample(profile, 0, "\xc3\xa9\xc3\xa9\xc3\xa9_name_of_23_letters__", 10);
    /* 118 - 6 pixels are 16 letters of 6.7. */
    expect_parts(profile, (const char *const[]){
                              ">a_name_of_23_ch\xe2\x80\xa6</text>",
                              ">\xc3\xa9\xc3\xa9\xc3\xa9_name_of_23_\xe2\x80\xa6</text>",
                              NULL,
                          });
}

static void names_do_not_become_markup(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    profile->product = profile_string(profile, "</text><script>\xff");
    build_sample(profile, 0, "<script>&\"</title>", 10);
    char *picture = picture_of(profile);
    assert_null(strstr(picture, "<script"));
    assert_null(strstr(picture, "&\""));
    assert_null(strstr(picture, "\xff"));
    assert_non_null(strstr(picture, "<title>&#60;script&#62;&#38;&#34;&#60;/title&#62;\n"));
    free(picture);
}

static void narrow_boxes_are_left_out(void **state)
{
    (void)state;
    struct profile *profile = profile_of_one_thread();
    build_sample(profile, 0, "wide", 10000);
    build_sample(profile, 0, "narrow", 4); /* 0.47 pixels */
    build_sample(profile, 0, "enough", 5); /* 0.59 pixels */
    char *picture = picture_of(profile);
    assert_non_null(strstr(picture, "<title>enough\n"));
    assert_null(strstr(picture, "<title>narrow\n"));
    free(picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_have_the_width_of_their_weight),
        cmocka_unit_test(names_are_cut_to_their_boxes),
        cmocka_unit_test(names_do_not_become_markup),
        cmocka_unit_test(narrow_boxes_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
