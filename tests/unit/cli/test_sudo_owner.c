/* SPDX-License-Identifier: MIT */
/* Under sudo, only files and directories that rec created change their owner. Each test has an
 * empty directory of its own as its working directory. */
#include "cli/files/sudo_owner.h"

#include <fcntl.h>
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

enum { USER = 65534, OTHER_USER = 1000 };

static char directory[64];
static const struct sudo_owner user = {.is_other = true, .uid = USER, .gid = USER};
static const struct sudo_owner same = {0};

static int enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/rec-test-owner.XXXXXX");
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static uid_t owner_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_uid;
}

static void give(const struct sudo_owner *owner, const char *name)
{
    int here = open(".", O_PATH | O_DIRECTORY);
    assert_true(here >= 0);
    sudo_owner_give_directory(owner, here, name);
    close(here);
}

static void a_new_directory_is_given(void **state)
{
    (void)state;
    assert_int_equal(mkdir("new", 0700), 0);
    give(&same, "new");
    assert_int_equal(owner_of("new"), 0);
    give(&user, "new");
    assert_int_equal(owner_of("new"), USER);
}

static void the_target_of_a_link_is_not_given(void **state)
{
    (void)state;
    assert_int_equal(mkdir("target", 0700), 0);
    assert_int_equal(symlink("target", "new"), 0);
    give(&user, "new");
    assert_int_equal(owner_of("target"), 0);
    assert_int_equal(owner_of("new"), 0);
}

static void a_directory_with_entries_is_not_given(void **state)
{
    (void)state;
    assert_int_equal(mkdir("full", 0700), 0);
    assert_int_equal(mkdir("full/.hidden", 0700), 0);
    give(&user, "full");
    assert_int_equal(owner_of("full"), 0);
}

static void a_directory_of_another_user_is_not_given(void **state)
{
    (void)state;
    assert_int_equal(mkdir("other", 0755), 0);
    assert_int_equal(chown("other", OTHER_USER, OTHER_USER), 0);
    give(&user, "other");
    assert_int_equal(owner_of("other"), OTHER_USER);
}

static void a_file_is_not_given(void **state)
{
    (void)state;
    close(open("file", O_WRONLY | O_CREAT, 0600));
    give(&user, "file");
    give(&user, "missing");
    assert_int_equal(owner_of("file"), 0);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(a_new_directory_is_given),
        IN_DIRECTORY(the_target_of_a_link_is_not_given),
        IN_DIRECTORY(a_directory_with_entries_is_not_given),
        IN_DIRECTORY(a_directory_of_another_user_is_not_given),
        IN_DIRECTORY(a_file_is_not_given),
    };
    if (geteuid() != 0)
        return 77; /* only root changes owners */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
