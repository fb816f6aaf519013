/* SPDX-License-Identifier: MIT */
/* A Go program that took the place of another one must not get our signals: its runtime owns them. */
#include "record/launch/go_programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/rec-test-go-XXXXXX";

static int make(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int unmake(void **state)
{
    (void)state;
    return unlink(path);
}

/* This program into the file, as it is or with what marks those of Go. */
static void write_program(const char *options)
{
    char command[256];
    snprintf(command, sizeof(command), "objcopy %s /proc/%d/exe %s 2>/dev/null", options,
             (int)getpid(), path);
    if (system(command) != 0)
        skip();
}

static bool have(struct go_programs *known, const char *file)
{
    struct stat status = {0};
    stat(file, &status);
    return go_programs_have(known, 0, file, &status);
}

static void a_file_that_changed_is_looked_at_again(void **state)
{
    (void)state;
    struct go_programs known = {0};
    write_program("");
    assert_false(have(&known, path));
    assert_false(have(&known, path));
    write_program("--add-section .go.buildinfo=/dev/null");
    assert_true(have(&known, path));
    assert_true(have(&known, path));
}

static void what_is_no_program_is_none_of_go(void **state)
{
    (void)state;
    struct go_programs known = {0};
    assert_false(have(&known, "/nowhere"));
    assert_false(have(&known, "/"));
    assert_false(have(&known, "/dev/null"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_changed_is_looked_at_again),
        cmocka_unit_test(what_is_no_program_is_none_of_go),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
