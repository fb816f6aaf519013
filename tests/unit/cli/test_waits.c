/* SPDX-License-Identifier: MIT */
/* Waits by stack and reason, idle pools, threads with long waits, times of threads. */
#include "cli/waits/stuck.h"
#include "cli/waits/wait_groups.h"

#include "../profile/waiting.h"
#include "cli/report/info/info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct profile *make(int threads)
{
    struct profile *profile = profile_new();
    build_process(profile, 7, "app");
    for (int i = 0; i < threads; i++)
        build_thread(profile, 0, 7 + i, i == 0, 0);
    build_time_events(profile);
    return profile;
}

static void finish(struct profile *profile, uint64_t end_ns)
{
    profile->end_ns = end_ns;
    assert_int_equal(profile_finish_samples(profile), 0);
    profile_link_stacks(profile);
}

static const struct wait_group *group_with(const struct wait_groups *groups, const char *reason)
{
    for (size_t i = 0; i < groups->count; i++)
        if (strcmp(groups->groups[i].reason.text, reason) == 0)
            return &groups->groups[i];
    return NULL;
}

static void equal_stacks_of_threads_are_one_group(void **state)
{
    (void)state;
    struct wait_groups groups;
    struct profile *profile = make(3);
    build_wait(profile, 0, "main;lock;[waiting: lock]", 10, 30);
    build_wait(profile, 0, "main;lock;[waiting: lock]", 100, 50);
    build_wait(profile, 1, "main;lock;[waiting: lock]", 10, 40);
    build_wait(profile, 1, "main;read;[waiting: read]", 60, 5);
    build_wait(profile, 2, "main;lock;[runnable]", 10, 2);
    finish(profile, 200);
    assert_int_equal(wait_groups_build(&groups, profile, false), 0);
    assert_int_equal(groups.total_ns, 127);
    assert_int_equal(groups.runnable_ns, 2);
    assert_int_equal(groups.idle_ns, 0);
    assert_int_equal(groups.count, 3);
    assert_string_equal(groups.reasons[0].reason.text, "lock");
    const struct wait_group *lock = &groups.groups[0];
    assert_string_equal(lock->reason.text, "lock");
    assert_int_equal(lock->sum.total_ns, 120);
    assert_int_equal(lock->sum.waits, 3);
    assert_int_equal(wait_sum_longest_ns(&lock->sum), 50);
    assert_int_equal(lock->member_count, 2);
    assert_int_equal(groups.members[lock->first_member].thread, 0);
    wait_groups_free(&groups);
    profile_free(profile);
}

/* Three workers at one place, one of which also reads; a main thread at a place of its own. */
static struct profile *make_pool(const char *reason)
{
    char stack[128];
    struct profile *profile = make(4);
    snprintf(stack, sizeof(stack), "pool;next;[waiting: %s]", reason);
    for (uint32_t thread = 1; thread < 4; thread++)
        build_wait(profile, thread, stack, 10, 100);
    build_wait(profile, 3, "pool;work;[waiting: read]", 110, 20);
    build_wait(profile, 1, "pool;next;[runnable]", 110, 3);
    build_wait(profile, 0, "main;[waiting: join]", 0, 150);
    finish(profile, 200);
    return profile;
}

static void threads_that_wait_at_one_place_only_are_a_pool(void **state)
{
    (void)state;
    struct wait_groups groups;
    struct profile *profile = make_pool("condition variable");
    assert_int_equal(wait_groups_build(&groups, profile, false), 0);
    const struct wait_group *pool = group_with(&groups, "condition variable");
    assert_int_equal(pool->idle_count, 2);
    assert_int_equal(pool->pool.total_ns, 200);
    assert_int_equal(pool->sum.total_ns, 100); /* of the thread that also reads */
    assert_int_equal(groups.idle_ns, 200);
    assert_int_equal(groups.total_ns, 100 + 20 + 3 + 150);
    wait_groups_free(&groups);
    assert_int_equal(wait_groups_build(&groups, profile, true), 0);
    assert_int_equal(groups.idle_ns, 0);
    assert_int_equal(groups.total_ns, 300 + 20 + 3 + 150);
    wait_groups_free(&groups);
    profile_free(profile);
}

static void threads_that_wait_for_locks_or_each_other_are_no_pool(void **state)
{
    (void)state;
    static const char *const reasons[] = {"lock", "disk", "join", "barrier", "page fault"};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct wait_groups groups;
        struct profile *profile = make_pool(reasons[i]);
        assert_int_equal(wait_groups_build(&groups, profile, false), 0);
        assert_int_equal(groups.idle_ns, 0);
        wait_groups_free(&groups);
        profile_free(profile);
    }
}

#define S UINT64_C(1000000000)

/* Five intervals without a processor, and one. */
static void a_sum_of_intervals_is_no_long_wait(void **state)
{
    (void)state;
    struct wait_groups groups;
    struct stuck stuck;
    struct profile *profile = make(2);
    build_wait(profile, 0, "[runnable]", 10, 80);
    build_wait(profile, 1, "[runnable]", 20, 60);
    const struct profile_sample sum = {.time_ns = 10, .thread = 0};
    assert_int_equal(profile_add_wait_object(profile, &sum, 0, 5), 0);
    finish(profile, 200);
    assert_int_equal(stuck_find(&stuck, profile, 50, false), 0);
    assert_int_equal(stuck.wait_count, 1);
    assert_int_equal(stuck.waits[0].wait.thread, 1);
    stuck_free(&stuck);
    assert_int_equal(wait_groups_build(&groups, profile, false), 0);
    assert_int_equal(groups.groups[0].sum.total_ns, 140);
    assert_int_equal(groups.groups[0].sum.waits, 6);
    assert_int_equal(wait_sum_longest_ns(&groups.groups[0].sum), 0); /* one of five, perhaps */
    wait_groups_free(&groups);
    profile_free(profile);
}

static void threads_with_long_waits_are_named_with_their_age(void **state)
{
    (void)state;
    struct stuck stuck;
    struct profile *profile = make(5);
    build_wait(profile, 0, "main;[waiting: join]", 0, 4 * S);
    build_wait(profile, 0, "main;[waiting: join]", 4 * S, 6 * S); /* the same wait */
    build_wait(profile, 1, "run;a;[waiting: lock]", 1 * S, 9 * S);
    build_wait(profile, 2, "run;a;[waiting: lock]", 2 * S, 8 * S);
    build_wait(profile, 3, "run;b;[waiting: read]", 1 * S, 6 * S); /* ended */
    build_wait(profile, 3, "run;b;[waiting: read]", 8 * S, 2 * S);
    build_wait(profile, 4, "run;c;[runnable]", 6 * S, 4 * S);
    finish(profile, 10 * S);
    assert_int_equal(stuck_find(&stuck, profile, 5 * S, false), 0);
    assert_int_equal(stuck.at_end, 3);
    assert_int_equal(stuck.count, 3);
    const struct stuck_group *groups = stuck.groups;
    assert_true(groups[0].is_at_end && groups[1].is_at_end && !groups[2].is_at_end);
    assert_string_equal(groups[0].reason.text, "join");
    assert_int_equal(stuck.waits[groups[0].first].wait.length_ns, 10 * S);
    assert_string_equal(groups[1].reason.text, "lock");
    assert_int_equal(groups[1].count, 2);
    assert_int_equal(stuck.waits[groups[1].first].wait.thread, 1);
    assert_string_equal(groups[2].reason.text, "read");
    assert_int_equal(stuck.waits[groups[2].first].wait.length_ns, 6 * S);
    stuck_free(&stuck);
    assert_int_equal(stuck_find(&stuck, profile, 3 * S, false), 0);
    assert_int_equal(stuck.at_end, 4); /* with the thread without a processor */
    stuck_free(&stuck);
    profile_free(profile);
}

/* As `sleep` in a script that a signal ends later. */
static void a_thread_that_has_ended_long_before_does_not_wait_at_the_end(void **state)
{
    (void)state;
    struct stuck stuck;
    struct profile *profile = make(3);
    build_wait(profile, 0, "main;[waiting: child]", 0, 7 * S);
    build_wait(profile, 1, "main;[waiting: sleep]", 0, 6 * S);
    build_wait(profile, 2, "main;[waiting: read]", 2 * S, 6 * S);
    profile->threads[1].end_ns = 6 * S + 1;
    profile->threads[2].end_ns = 8 * S + 1; /* by the signal */
    finish(profile, 8 * S + S / 2);
    assert_int_equal(stuck_find(&stuck, profile, 5 * S, false), 0);
    assert_int_equal(stuck.wait_count, 3);
    assert_int_equal(stuck.at_end, 1);
    assert_true(stuck.groups[0].is_at_end);
    assert_int_equal(stuck.waits[stuck.groups[0].first].wait.thread, 2);
    stuck_free(&stuck);
    profile_free(profile);
}

static void idle_pools_are_not_stuck(void **state)
{
    (void)state;
    struct profile *profile = make(3);
    for (uint32_t thread = 1; thread < 3; thread++)
        build_wait(profile, thread, "pool;next;[waiting: condition variable]", 0, 9 * S);
    finish(profile, 9 * S);
    for (int with_idle = 0; with_idle < 2; with_idle++) {
        struct stuck stuck;
        assert_int_equal(stuck_find(&stuck, profile, 5 * S, with_idle), 0);
        assert_int_equal(stuck.at_end, with_idle ? 2 : 0);
        assert_int_equal(stuck.left_out, with_idle ? 0 : 2);
        stuck_free(&stuck);
    }
    profile_free(profile);
}

static void times_of_a_thread_are_apart(void **state)
{
    (void)state;
    struct profile *profile = make(2);
    profile->threads[1].start_ns = 50;
    profile->threads[1].end_ns = 190;
    build_cpu(profile, 1, "run", 60, 10);
    build_cpu(profile, 1, "run", 70, 10);
    build_wait(profile, 1, "run;[waiting: lock]", 70, 90);
    build_wait(profile, 1, "run;[runnable]", 160, 25);
    build_wait(profile, 1, "[short waits]", 185, 5);
    finish(profile, 200);
    struct info_times times = info_times(profile, 1);
    assert_int_equal(times.cpu_ns, 20);
    assert_int_equal(times.waiting_ns, 95);
    assert_int_equal(times.runnable_ns, 25);
    assert_int_equal(times.lifetime_ns, 140);
    assert_int_equal(info_times(profile, 0).lifetime_ns, 200);
    profile->threads[1].lifetime_ns = 150; /* by switch records */
    times = info_times(profile, 1);
    assert_int_equal(times.lifetime_ns, 150);
    assert_int_equal(times.cpu_ns, 30);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_of_intervals_is_no_long_wait),
        cmocka_unit_test(equal_stacks_of_threads_are_one_group),
        cmocka_unit_test(threads_that_wait_at_one_place_only_are_a_pool),
        cmocka_unit_test(threads_that_wait_for_locks_or_each_other_are_no_pool),
        cmocka_unit_test(threads_with_long_waits_are_named_with_their_age),
        cmocka_unit_test(a_thread_that_has_ended_long_before_does_not_wait_at_the_end),
        cmocka_unit_test(idle_pools_are_not_stuck),
        cmocka_unit_test(times_of_a_thread_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
