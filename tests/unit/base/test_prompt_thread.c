/* SPDX-License-Identifier: MIT */
/* Of a thread without the privilege, the slice changes and not the priority. */
#include "base/prompt_thread.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { UNPRIVILEGED = 65534, NO_CHANGE_OF_USER = 100 };

static struct attributes attributes_now(void)
{
    struct attributes now = {0};
    if (syscall(SYS_sched_getattr, 0, &now, sizeof(now), 0) != 0)
        _exit(NO_CHANGE_OF_USER);
    return now;
}

/* Linux 6.12 and later. */
static bool kernel_has_slices(void)
{
    struct utsname name;
    unsigned major = 0, minor = 0;
    return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
           (major > 6 || (major == 6 && minor >= 12));
}

/* In a child, because the change cannot be undone without the privilege. Returns the failed part. */
static int try_with(bool is_privileged, int nice_before, int nice_after)
{
    if (setpriority(PRIO_PROCESS, 0, nice_before) != 0 ||
        (!is_privileged && setresuid(UNPRIVILEGED, UNPRIVILEGED, UNPRIVILEGED) != 0))
        return NO_CHANGE_OF_USER;
    prompt_thread_begin();
    struct attributes now = attributes_now();
    if (now.nice != nice_after)
        return 1;
    return kernel_has_slices() && now.runtime_ns != SLICE_NS ? 2 : 0;
}

static void assert_prompt(bool is_privileged, int nice_before, int nice_after)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(try_with(is_privileged, nice_before, nice_after));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_CHANGE_OF_USER)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_privileged_thread_gets_a_higher_priority(void **state)
{
    (void)state;
    assert_prompt(true, 3, NICE);
}

static void an_even_higher_priority_stays(void **state)
{
    (void)state;
    assert_prompt(true, NICE - 2, NICE - 2);
}

static void an_ordinary_thread_keeps_its_priority(void **state)
{
    (void)state;
    assert_prompt(false, 3, 3);
}

/* Real-time threads come first anyway. */
static void another_policy_stays(void **state)
{
    (void)state;
    const struct sched_param none = {0};
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        if (sched_setscheduler(0, SCHED_BATCH, &none) != 0)
            _exit(NO_CHANGE_OF_USER);
        struct attributes before = attributes_now();
        prompt_thread_begin();
        struct attributes now = attributes_now();
        _exit(now.policy != SCHED_BATCH || now.nice != before.nice);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_privileged_thread_gets_a_higher_priority),
        cmocka_unit_test(an_even_higher_priority_stays),
        cmocka_unit_test(an_ordinary_thread_keeps_its_priority),
        cmocka_unit_test(another_policy_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
