/* SPDX-License-Identifier: MIT */
/* In a user namespace, files of unmapped users belong neither to this user nor to root. */
#include "base/files/unmapped_owner.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { OVERFLOW_UID = 65534, NO_NAMESPACE = 100 };

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return is_written;
}

static bool write_map(pid_t pid, const char *name, const char *map)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    return !map || write_file(path, map);
}

/* The exit status of the check in a child inside of a new namespace; map NULL: without a mapping.
 * Several ids are mapped by a process outside of the namespace. */
static int in_namespace_of(const char *map, const char *group_map, int check(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWUSER) != 0 || raise(SIGSTOP) != 0)
            _exit(NO_NAMESPACE);
        _exit(check());
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    assert_true(write_map(pid, "uid_map", map) && write_map(pid, "gid_map", group_map));
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int in_namespace(const char *map, int check(void))
{
    return in_namespace_of(map, NULL, check);
}

static int everybody_is_mapped(void)
{
    return owner_is_unmapped(0) || owner_is_unmapped(OVERFLOW_UID) || !owner_is_self(geteuid());
}

static int own_user_alone_is_mapped(void)
{
    if (geteuid() != 0 || owner_is_unmapped(0) || !owner_is_self(0))
        return 1;
    return !owner_is_unmapped(OVERFLOW_UID) || owner_is_self(OVERFLOW_UID);
}

static int own_user_is_unmapped(void)
{
    if (geteuid() != OVERFLOW_UID)
        return 1;
    return !owner_is_unmapped(OVERFLOW_UID) || owner_is_self(OVERFLOW_UID);
}

/* As in containers: the overflow id is also a user of the namespace. */
static int overflow_id_is_a_user_as_well(void)
{
    return owner_is_unmapped(0) || !owner_is_unmapped(OVERFLOW_UID);
}

static void initial_namespace_has_no_unmapped_users(void **state)
{
    (void)state;
    assert_int_equal(everybody_is_mapped(), 0);
}

static void unmapped_users_are_told_apart_from_this_user(void **state)
{
    (void)state;
    char map[32];
    snprintf(map, sizeof(map), "0 %u 1", (unsigned)geteuid());
    assert_int_equal(in_namespace(map, own_user_alone_is_mapped), 0);
    assert_int_equal(in_namespace(NULL, own_user_is_unmapped), 0);
    if (geteuid() == 0)
        assert_int_equal(in_namespace("0 0 70000", overflow_id_is_a_user_as_well), 0);
}

static int group_is_unmapped(void)
{
    return getegid() != OVERFLOW_UID || group_is_self(OVERFLOW_UID) || group_is_of_root(0);
}

static int group_of_users_is_shown_as_group_0(void)
{
    return !group_is_self(getegid()) || group_is_of_root(0);
}

static int group_0_is_roots(void)
{
    return !group_is_of_root(0) || group_is_of_root(1);
}

static void groups_of_a_namespace_may_have_other_members(void **state)
{
    (void)state;
    assert_true(group_is_self(getegid()) && group_is_of_root(0) && !group_is_of_root(1));
    assert_int_equal(in_namespace_of(NULL, NULL, group_is_unmapped), 0);
    if (geteuid() != 0)
        return; /* an unprivileged process maps its own group only */
    assert_int_equal(in_namespace_of("0 0 1", "0 100 1\n1 0 1", group_of_users_is_shown_as_group_0),
                     0);
    assert_int_equal(in_namespace_of("0 0 70000", "0 0 70000", group_0_is_roots), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_namespace_has_no_unmapped_users),
        cmocka_unit_test(unmapped_users_are_told_apart_from_this_user),
        cmocka_unit_test(groups_of_a_namespace_may_have_other_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
