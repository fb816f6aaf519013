/* SPDX-License-Identifier: MIT */
/* Numbers without a call, from 1000 on, fail with ENOSYS where the filter allows them. */
#include "base/sandbox/confine_filter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { FIRST = 1000, NUMBERS = 120, LISTED_MAX = 40, BY_ARGUMENT = FIRST + 5, NOT_CONFINED = 200 };

static const uint32_t refusal = SECCOMP_RET_ERRNO | EPERM;

/* In an order unlike that of the numbers; with neighbours, gaps, and the ends of the range. */
static bool is_listed(uint32_t number, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (number == FIRST + i * 47 % NUMBERS)
            return true;
    return false;
}

static bool is_refused(long number, long argument)
{
    errno = 0;
    syscall(number, argument);
    return errno == EPERM;
}

/* The number of wrong outcomes. */
static int try_numbers(unsigned listed_count, bool lists_refused)
{
    static const struct sock_filter by_argument[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BY_ARGUMENT, 0, 4),
        CONFINE_LOAD_ARGUMENT(0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 1, 0),
        CONFINE_REFUSE,
        CONFINE_ALLOW,
    };
    uint32_t calls[LISTED_MAX + 1] = {__NR_exit_group};
    for (unsigned i = 0; i < listed_count; i++)
        calls[1 + i] = FIRST + i * 47 % NUMBERS;
    struct confine_filter filter = confine_filter_start();
    confine_filter_add(&filter, by_argument, sizeof(by_argument) / sizeof(by_argument[0]));
    uint32_t *list = lists_refused ? calls + 1 : calls;
    size_t count = listed_count + !lists_refused;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        confine_filter_install(&filter, list, count, lists_refused ? refusal : SECCOMP_RET_ALLOW,
                               lists_refused ? SECCOMP_RET_ALLOW : refusal) != 0)
        return NOT_CONFINED;
    int wrong = is_refused(BY_ARGUMENT, 7) + !is_refused(BY_ARGUMENT, 8);
    for (uint32_t number = FIRST - 1; number <= FIRST + NUMBERS; number++)
        if (number != BY_ARGUMENT)
            wrong += is_refused(number, 0) != (is_listed(number, listed_count) == lists_refused);
    return wrong;
}

static void assert_right(unsigned listed_count, bool lists_refused)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        syscall(SYS_exit_group, try_numbers(listed_count, lists_refused)); /* no search for leaks */
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void listed_numbers_are_refused_and_others_allowed(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= LISTED_MAX; count++)
        assert_right(count, true);
}

static void listed_numbers_are_allowed_and_others_refused(void **state)
{
    (void)state;
    for (unsigned count = 0; count <= LISTED_MAX; count++)
        assert_right(count, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listed_numbers_are_refused_and_others_allowed),
        cmocka_unit_test(listed_numbers_are_allowed_and_others_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
