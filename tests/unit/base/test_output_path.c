/* SPDX-License-Identifier: MIT */
/* The walk to an output's directory. Each test has an empty directory of its own as its working
 * directory; the tests with two users need root. */
#include "base/files/output_path.h"

#include <errno.h>
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

enum { OTHER = 65534 };

static char top[64];

static int enter_directory(void **state)
{
    (void)state;
    strcpy(top, "/tmp/rec-test-path.XXXXXX");
    return mkdtemp(top) && chdir(top) == 0 && mkdir("here", 0755) == 0 && mkdir("goal", 0755) == 0
               ? 0
               : -1;
}

static int leave_directory(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", top);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* Whether the path leads to `name` in a directory; 0 or the negative errno of the walk. */
static int leads(const char *path, const char *directory, const char *name)
{
    struct output_path out;
    struct error error = {{0}};
    struct stat found, expected;
    int err = output_path_open(&out, path, &error);
    if (err) {
        assert_int_equal(out.directory, -1);
        assert_int_not_equal(error.text[0], 0);
        return err;
    }
    assert_int_equal(fstat(out.directory, &found), 0);
    assert_int_equal(stat(directory, &expected), 0);
    assert_int_equal(found.st_ino, expected.st_ino);
    assert_string_equal(out.name, name);
    output_path_close(&out);
    return 0;
}

static void give(const char *path)
{
    assert_int_equal(lchown(path, OTHER, OTHER), 0);
}

static void components_lead_where_the_kernel_leads(void **state)
{
    (void)state;
    char absolute[128];
    assert_int_equal(leads("file", ".", "file"), 0);
    assert_int_equal(leads("here/file", "here", "file"), 0);
    assert_int_equal(leads(".//here/.././goal///file", "goal", "file"), 0);
    assert_int_equal(leads("here/file//", "here", "file"), 0);
    snprintf(absolute, sizeof(absolute), "/.%s/here/../file", top);
    assert_int_equal(leads(absolute, top, "file"), 0);
    assert_int_equal(leads("/../../file", "/", "file"), 0);
}

static void links_of_the_user_and_of_root_are_followed(void **state)
{
    (void)state;
    char target[128];
    snprintf(target, sizeof(target), "%s/./goal/", top);
    assert_int_equal(symlink(target, "absolute"), 0);
    assert_int_equal(symlink("../goal", "here/relative"), 0);
    assert_int_equal(symlink("here/relative/../absolute", "both"), 0);
    assert_int_equal(leads("absolute/file", "goal", "file"), 0);
    assert_int_equal(leads("here/relative/file", "goal", "file"), 0);
    assert_int_equal(leads("both/file", "goal", "file"), 0);
    assert_int_equal(leads("/proc/self/cwd/goal/file", "goal", "file"), 0);
    assert_int_equal(leads("absolute", ".", "absolute"), 0); /* the last component */
    assert_int_equal(chmod(".", 01777), 0);
    assert_int_equal(leads("absolute/file", "goal", "file"), 0);
}

static void what_is_no_directory_ends_the_walk(void **state)
{
    (void)state;
    static char longer[6000], chain[300];
    memset(longer, 'x', sizeof(longer) - 1);
    memset(chain, 'y', sizeof(chain) - 1);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(leads("loop/file", ".", ""), -ELOOP);
    assert_int_equal(leads("dangling/file", ".", ""), -ENOENT);
    assert_int_equal(leads("fifo/file", ".", ""), -ENOTDIR);
    assert_int_equal(leads("missing/file", ".", ""), -ENOENT);
    assert_int_equal(leads(longer, ".", ""), -ENAMETOOLONG);
    assert_int_equal(leads(chain, ".", ""), -ENAMETOOLONG);
    assert_int_equal(leads("", ".", ""), -ENOENT);
    for (const char *const *path = (const char *const[]){".", "..", "/", "here/..", "//", NULL};
         *path; path++)
        assert_int_equal(leads(*path, ".", ""), -EISDIR);
}

/* A link that leads to a longer path, again and again, must not overflow the rest of the path. */
static void targets_that_grow_are_refused(void **state)
{
    (void)state;
    static char target[4000];
    size_t used = (size_t)snprintf(target, sizeof(target), "grows");
    while (used < 3000)
        used += (size_t)snprintf(target + used, sizeof(target) - used, "/here/..");
    assert_int_equal(symlink(target, "grows"), 0);
    assert_int_equal(leads("grows/file", ".", ""), -ENAMETOOLONG);
}

static void links_that_another_user_can_change_are_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(symlink("../goal", "here/own"), 0);
    assert_int_equal(symlink("../goal", "here/theirs"), 0);
    give("here/theirs");
    assert_int_equal(leads("here/own/file", "goal", "file"), 0);
    assert_int_equal(leads("here/theirs/file", ".", ""), -EPERM);
    assert_int_equal(chmod("here", 0777), 0); /* others can rename the link of root */
    assert_int_equal(leads("here/own/file", ".", ""), -EPERM);
    assert_int_equal(chmod("here", 01777), 0);
    assert_int_equal(leads("here/own/file", "goal", "file"), 0);
    assert_int_equal(leads("here/theirs/file", ".", ""), -EPERM);
    assert_int_equal(chmod("here", 0775), 0);
    assert_int_equal(leads("here/own/file", "goal", "file"), 0);
    assert_int_equal(chown("here", 0, OTHER), 0); /* a group that is not the one of this process */
    assert_int_equal(leads("here/own/file", ".", ""), -EPERM);
    assert_int_equal(chmod("here", 01755), 0);
    give("here"); /* the owner of a sticky directory can rename, too */
    assert_int_equal(leads("here/own/file", ".", ""), -EPERM);
}

static void a_directory_that_another_user_can_move_has_no_safe_parent(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(mkdir("here/below", 0755), 0);
    assert_int_equal(leads("here/below/../file", "here", "file"), 0);
    give("here/below");
    assert_int_equal(leads("here/below/../file", ".", ""), -EPERM);
    give("here"); /* whose owner can do there what rec does */
    assert_int_equal(leads("here/below/../file", "here", "file"), 0);
    assert_int_equal(leads("here/../file", ".", ""), -EPERM);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(components_lead_where_the_kernel_leads),
        IN_DIRECTORY(links_of_the_user_and_of_root_are_followed),
        IN_DIRECTORY(what_is_no_directory_ends_the_walk),
        IN_DIRECTORY(targets_that_grow_are_refused),
        IN_DIRECTORY(links_that_another_user_can_change_are_refused),
        IN_DIRECTORY(a_directory_that_another_user_can_move_has_no_safe_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
