/* SPDX-License-Identifier: MIT */
#include "base/process_ids.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void in_our_own_namespace_a_process_has_one_id(void **state)
{
    (void)state;
    pid_t ids[PROCESS_NAMESPACES_MAX] = {0};
    assert_int_equal(process_ids(getpid(), 0, ids, PROCESS_NAMESPACES_MAX), 1);
    assert_int_equal(ids[0], getpid());
    assert_int_equal(process_ids(getpid(), gettid(), ids, PROCESS_NAMESPACES_MAX), 1);
    assert_int_equal(process_ids(getpid(), gettid(), ids, 0), 0);
}

/* Forks in a namespace of its own; 255: that is not allowed. Says what pid the child has here. */
static int fork_below(pid_t *child)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return 255;
    *child = fork();
    if (*child != 0)
        return 0;
    pause();
    _exit(0);
}

static int look_below(void)
{
    pid_t child = 0, ids[PROCESS_NAMESPACES_MAX] = {0};
    int status = fork_below(&child);
    if (status != 0)
        return status;
    size_t all = process_ids(child, 0, ids, PROCESS_NAMESPACES_MAX);
    bool is_right = all == 2 && ids[0] == child && ids[1] == 1;
    bool is_kept = process_ids(child, 0, ids, 1) == 1 && ids[0] == child;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    bool is_gone = process_ids(child, 0, ids, PROCESS_NAMESPACES_MAX) == 0;
    return is_right && is_kept && is_gone ? 0 : 1;
}

static void in_a_namespace_below_it_has_two(void **state)
{
    (void)state;
    int status;
    pid_t looker = fork();
    if (looker == 0)
        _exit(look_below());
    assert_int_equal(waitpid(looker, &status, 0), looker);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 255)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_our_own_namespace_a_process_has_one_id),
        cmocka_unit_test(in_a_namespace_below_it_has_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
