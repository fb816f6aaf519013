/* SPDX-License-Identifier: MIT */
/* Children whose parents wait, end, or have never been met. */
#include "record/account/ended_children.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct ended_children children;

static int set_up(void **state)
{
    (void)state;
    memset(&children, 0, sizeof(children));
    return 0;
}

static void note(pid_t pid, pid_t parent_pid, uint64_t rusage_ns)
{
    ended_children_note(&children, &(struct ended_child){pid, parent_pid, rusage_ns});
}

static void a_wait_takes_the_child_of_this_parent_once(void **state)
{
    (void)state;
    note(7, 1, 100);
    assert_false(ended_children_take(&children, 2, 7));
    assert_true(ended_children_take(&children, 1, 7));
    assert_false(ended_children_take(&children, 1, 7));
    assert_int_equal(ended_children_orphan(&children, 1), 0);
    note(8, 1, 100);
    assert_false(ended_children_take(&children, 2, 0));
    assert_true(ended_children_take(&children, 1, 0)); /* by a call that names no pid */
    assert_false(ended_children_take(&children, 1, 0));
}

static void children_that_nobody_waited_for_are_summed_up_once(void **state)
{
    (void)state;
    note(7, 1, 100);
    note(8, 1, 200);
    note(9, 2, 400);
    assert_true(ended_children_take(&children, 1, 7));
    assert_true(ended_children_has_parent(&children, 1));
    assert_int_equal(ended_children_orphan(&children, 1), 200);
    assert_false(ended_children_has_parent(&children, 1));
    assert_int_equal(ended_children_orphan(&children, 1), 0);
    assert_int_equal(ended_children_orphan(&children, 2), 400);
}

static void cpu_time_known_later_is_billed_until_the_wait(void **state)
{
    (void)state;
    note(7, 1, 0);
    note(8, 1, 0);
    assert_true(ended_children_take(&children, 1, 8));
    for (pid_t pid = 7; pid <= 8; pid++)
        ended_children_set_rusage(&children, &(struct ended_child){pid, 1, 100});
    ended_children_set_rusage(&children, &(struct ended_child){7, 2, 50}); /* another parent's */
    assert_int_equal(ended_children_orphan(&children, 1), 100);
}

static void the_tables_stay_within_their_sizes(void **state)
{
    (void)state;
    for (pid_t pid = 1; pid <= ENDED_CHILDREN_MAX + 5; pid++)
        note(pid, 1, 1);
    assert_false(ended_children_take(&children, 1, 5));
    assert_true(ended_children_take(&children, 1, 6));
    assert_int_equal(ended_children_orphan(&children, 1), ENDED_CHILDREN_MAX - 1);
    for (pid_t pid = 1; pid <= UNMET_CHILDREN_MAX + 5; pid++)
        ended_children_add_unmet(&children, &(struct unmet_child){.pid = pid});
    assert_int_equal(children.unmet_count, UNMET_CHILDREN_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_wait_takes_the_child_of_this_parent_once, set_up),
        cmocka_unit_test_setup(children_that_nobody_waited_for_are_summed_up_once, set_up),
        cmocka_unit_test_setup(cpu_time_known_later_is_billed_until_the_wait, set_up),
        cmocka_unit_test_setup(the_tables_stay_within_their_sizes, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
