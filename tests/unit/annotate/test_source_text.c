/* SPDX-License-Identifier: MIT */
/* Why the text of a source file is missing. */
#include "annotate/source_text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void expect_reason(const char *file, const char *reason)
{
    struct profile *profile = profile_new();
    const struct convert_options options = {.debug_directory = "/nowhere"};
    const struct source_dirs dirs = {.count = 0};
    const struct source_request request = {
        .profile = profile, .options = &options, .dirs = &dirs, .lib = PROFILE_NONE, .file = file};
    struct buffer out = {0};
    struct error error;
    char expected[256];
    assert_int_not_equal(source_text(&request, &out, &error), 0);
    snprintf(expected, sizeof(expected), "%s: %s", file, reason);
    assert_string_equal(error.text, expected);
    buffer_free(&out);
    profile_free(profile);
}

/* As in Debian's debug info of the C library. */
static void a_relative_path_has_no_known_directory(void **state)
{
    (void)state;
    expect_reason("./misc/../sysdeps/unix/sysv/linux/epoll_wait.c",
                  "relative to an unknown directory");
}

static void other_reasons_are_those_of_the_file(void **state)
{
    (void)state;
    expect_reason("/nowhere/missing.c", "No such file or directory");
    expect_reason("/etc/passwd", "not named like source code, or not text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_relative_path_has_no_known_directory),
        cmocka_unit_test(other_reasons_are_those_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
