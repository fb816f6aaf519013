/* SPDX-License-Identifier: MIT */
#include "convert/symbolize/symbolize_time.h"

#include "base/clock.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static void a_file_with_many_names_counts_once(void **state)
{
    (void)state;
    char directory[] = "/tmp/rec-test-time.XXXXXX", path[64], name[64];
    static const char bytes[1 << 16];
    struct profile *profile = profile_new();
    const struct convert_options options = {.symfs = NULL};
    struct symbolize_time time = {.inodes = NULL};
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/file", directory);
    int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "%s/link%d", directory, i);
        assert_int_equal(link(path, name), 0);
        symbolize_time_add(&time, profile, &options, profile_lib_id(profile, name, NULL, 0));
        unlink(name);
    }
    assert_int_equal(time.file_bytes, sizeof(bytes));
    symbolize_time_add(&time, profile, &options, profile_lib_id(profile, "/nowhere/file", NULL, 0));
    assert_int_equal(time.file_bytes, sizeof(bytes));
    close(fd);
    unlink(path);
    rmdir(directory);
    symbolize_time_free(&time);
    profile_free(profile);
}

static void processes_beyond_the_limit_are_left_out_and_counted(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    struct symbolize_time time = {.inodes = NULL};
    symbolize_time_begin(&time);
    assert_false(symbolize_time_is_over(&time, 1));
    symbolize_time_add_note(&time, profile);
    assert_null(profile_note(profile, "no_names"));
    time.start_cpu_ns = children_cpu_ns() - 40 * SECOND;
    assert_true(symbolize_time_is_over(&time, 3));
    assert_true(symbolize_time_is_over(&time, 4));
    time.file_bytes = UINT64_C(1000) << 20; /* 60 s more */
    assert_false(symbolize_time_is_over(&time, 1));
    symbolize_time_add_note(&time, profile);
    assert_non_null(strstr(profile_note(profile, "no_names"), "7 have no names"));
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_with_many_names_counts_once),
        cmocka_unit_test(processes_beyond_the_limit_are_left_out_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
