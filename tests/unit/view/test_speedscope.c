/* SPDX-License-Identifier: MIT */
/* The folder of speedscope's scripts: an installed one, which no other user can change. */
#include "view/speedscope.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { OTHER_USER = 65534 };

static char base[] = "/tmp/rec-test-speedscope-XXXXXX";

static void make_release(const char *home, const char *below)
{
    char command[512];
    snprintf(command, sizeof(command),
             "umask 022; mkdir -p %s/%s/release && touch %s/%s/release/index.html", home, below,
             home, below);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(base) || setenv("HOME", base, 1) != 0 || unsetenv("NPM_CONFIG_PREFIX") != 0)
        return -1;
    make_release(base, ".npm-global/lib/node_modules/speedscope/dist");
    return chdir(base);
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", base);
    return system(command);
}

static struct error error;

/* Another one may be installed for all users. */
static bool is_found(const char *release)
{
    struct stat found, ours;
    int folder = speedscope_open(NULL, &error);
    bool is_ours = folder >= 0 && fstat(folder, &found) == 0 && stat(release, &ours) == 0 &&
                   found.st_ino == ours.st_ino && found.st_dev == ours.st_dev;
    if (folder >= 0)
        close(folder);
    return is_ours;
}

#define MODULES ".npm-global/lib/node_modules"
#define RELEASE MODULES "/speedscope/dist/release"

static void finds_an_installed_folder(void **state)
{
    (void)state;
    assert_true(is_found(RELEASE));
    assert_int_equal(setenv("NPM_CONFIG_PREFIX", ".npm-global", 1), 0);
    assert_true(is_found(RELEASE));
    assert_int_equal(unsetenv("NPM_CONFIG_PREFIX"), 0);
}

static void ignores_the_working_directory(void **state)
{
    (void)state;
    make_release(base, "checkout/node_modules/speedscope/dist");
    assert_int_equal(chdir("checkout"), 0);
    assert_int_equal(setenv("HOME", "/nowhere", 1), 0);
    assert_false(is_found("node_modules/speedscope/dist/release"));
    assert_int_equal(setenv("HOME", base, 1), 0);
    assert_int_equal(chdir(base), 0);
}

static void refuses_folders_that_others_can_change(void **state)
{
    static const char *const folders[] = {RELEASE, MODULES, ".npm-global"};
    (void)state;
    bool is_group_of_root = getegid() == 0;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        assert_int_equal(chmod(folders[i], 0777), 0);
        assert_false(is_found(RELEASE));
        assert_non_null(strstr(error.text, "chmod go-w"));
        assert_int_equal(chmod(folders[i], 0775), 0);
        assert_int_equal(is_found(RELEASE), is_group_of_root);
        assert_int_equal(chmod(folders[i], 0755), 0);
        if (geteuid() != 0)
            continue;
        assert_int_equal(chown(folders[i], 0, OTHER_USER), 0);
        assert_true(is_found(RELEASE));
        assert_int_equal(chmod(folders[i], 0775), 0);
        assert_false(is_found(RELEASE));
        assert_int_equal(chmod(folders[i], 0755), 0);
        assert_int_equal(chown(folders[i], OTHER_USER, 0), 0);
        assert_false(is_found(RELEASE));
        assert_int_equal(chown(folders[i], 0, 0), 0);
    }
    assert_true(is_found(RELEASE));
}

static void follows_no_link(void **state)
{
    (void)state;
    assert_int_equal(rename(MODULES, "elsewhere"), 0);
    assert_int_equal(symlink("../../elsewhere", MODULES), 0);
    assert_false(is_found("elsewhere/speedscope/dist/release"));
    assert_int_equal(unlink(MODULES), 0);
    assert_int_equal(rename("elsewhere", MODULES), 0);
    assert_true(is_found(RELEASE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_an_installed_folder),
        cmocka_unit_test(ignores_the_working_directory),
        cmocka_unit_test(refuses_folders_that_others_can_change),
        cmocka_unit_test(follows_no_link),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
