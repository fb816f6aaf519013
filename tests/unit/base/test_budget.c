/* SPDX-License-Identifier: MIT */
/* Limits: the defaults that the documentation states, and the enforced one. */
#include "base/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static void memory_grows_with_large_inputs_alone(void **state)
{
    (void)state;
    budget_begin_conversion(10 * MIB, 0);
    assert_int_equal(budget_amount(BUDGET_MEMORY_BYTES), 480 * MIB);
    budget_begin_conversion(1034 * MIB, 0);
    assert_int_equal(budget_amount(BUDGET_MEMORY_BYTES), (480 + 16 * 1024) * MIB);
    budget_begin_conversion(UINT64_MAX, 0);
    assert_true(budget_amount(BUDGET_MEMORY_BYTES) >= UINT64_MAX / 32);
    budget_lift_memory();
}

static void an_option_sets_the_limit_and_its_shares(void **state)
{
    (void)state;
    budget_begin_conversion(0, 1024 * MIB);
    assert_int_equal(budget_amount(BUDGET_MEMORY_BYTES), 1024 * MIB);
    assert_int_equal(budget_amount(BUDGET_JIT_BYTES), 256 * MIB);
    assert_int_equal(budget_amount(BUDGET_ADDRESSES), MIB);
    budget_lift_memory();
}

static void every_limit_has_an_option(void **state)
{
    (void)state;
    for (enum budget budget = 0; budget < BUDGETS; budget++) {
        assert_true(budget_amount(budget) > 0);
        assert_int_equal(strncmp(budget_option(budget), "--", 2), 0);
    }
}

/* Whether so many bytes can be written to. */
static bool can_have(size_t bytes)
{
    char *room = budget_has_memory(bytes) ? malloc(bytes) : NULL;
    if (room)
        memset(room, 1, bytes);
    bool has = room;
    free(room);
    return has;
}

static void memory_is_enforced_until_the_limit_is_lifted(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        budget_begin_conversion(0, 64 * MIB);
        bool is_bounded = can_have(32 * MIB) && !can_have(600 * MIB);
        budget_lift_memory();
        _exit(is_bounded && can_have(600 * MIB) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_grows_with_large_inputs_alone),
        cmocka_unit_test(an_option_sets_the_limit_and_its_shares),
        cmocka_unit_test(every_limit_has_an_option),
        cmocka_unit_test(memory_is_enforced_until_the_limit_is_lifted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
