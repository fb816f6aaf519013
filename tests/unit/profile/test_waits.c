/* SPDX-License-Identifier: MIT */
/* Reasons of off-CPU samples, samples joined to waits, and the three metrics. */
#include "waiting.h"

#include "profile/metric.h"
#include "profile/wait_objects.h"
#include "sample_at.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct profile *make(bool adds_up)
{
    struct profile *profile = profile_new();
    profile->adds_samples_up = adds_up;
    build_process(profile, 7, "app");
    build_thread(profile, 0, 7, true, 0);
    build_thread(profile, 0, 8, false, 0);
    build_time_events(profile);
    return profile;
}

static void the_leaf_names_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *stack;
        enum profile_wait_kind kind;
        const char *text;
    } cases[] = {
        {"main;lock;[waiting: lock]", PROFILE_WAITING, "lock"},
        {"main;[waiting: condition variable]", PROFILE_WAITING, "condition variable"},
        {"main;[runnable]", PROFILE_RUNNABLE, "runnable"},
        {"[short waits]", PROFILE_SHORT_WAITS, "short waits"},
        {"[waiting]", PROFILE_WAIT_UNKNOWN, "unknown"},
        {"main;[waiting: ]", PROFILE_WAIT_UNKNOWN, "unknown"},
        {"main;[waiting: lock", PROFILE_WAIT_UNKNOWN, "unknown"},
        {"main;read", PROFILE_WAIT_UNKNOWN, "unknown"},
    };
    struct profile *profile = make(false);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct profile_wait_reason reason =
            wait_reason_of_call(profile, build_call(profile, cases[i].stack));
        assert_int_equal(reason.kind, cases[i].kind);
        assert_string_equal(reason.text, cases[i].text);
    }
    assert_int_equal(wait_reason_of_call(profile, PROFILE_NONE).kind, PROFILE_WAIT_UNKNOWN);
    profile_free(profile);
}

/* A hostile capture: the name fills the text. */
static void a_long_reason_is_cut(void **state)
{
    (void)state;
    struct profile_wait_reason reason =
        wait_reason_of_name("[waiting: 0123456789012345678901234567890123456789]");
    assert_string_equal(reason.text, "0123456789012345678901234567890");
}

static void samples_end_to_end_with_equal_calls_are_one_wait(void **state)
{
    (void)state;
    struct profile *profile = make(false);
    build_wait(profile, 0, "main;[waiting: read]", 100, 10);
    build_wait(profile, 0, "main;[waiting: read]", 110, 10);
    build_wait(profile, 0, "main;[waiting: read]", 120, 5);
    build_wait(profile, 0, "main;[runnable]", 125, 3);       /* another call */
    build_wait(profile, 0, "main;[waiting: read]", 140, 20); /* after a run */
    build_wait(profile, 0, "main;[waiting: read]", 161, 9);  /* and after another */
    build_wait(profile, 1, "main;[waiting: read]", 170, 9);  /* another thread */
    build_cpu(profile, 0, "main", 139, 10);
    assert_int_equal(profile_finish_samples(profile), 0);
    static const struct profile_wait expected[] = {
        {100, 25, 0, 0}, {125, 3, 0, 0}, {140, 20, 0, 0}, {161, 9, 0, 0}};
    struct profile_waits waits = profile_waits_of(profile, 0);
    struct profile_wait wait;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_true(profile_waits_next(&waits, &wait));
        assert_int_equal(wait.start_ns, expected[i].start_ns);
        assert_int_equal(wait.length_ns, expected[i].length_ns);
    }
    assert_false(profile_waits_next(&waits, &wait));
    assert_false(profile_waits_next(&waits, &wait));
    profile_free(profile);
}

/* A sum dated into a long wait, and a share that reaches into the wait. */
static void sums_do_not_cut_a_wait(void **state)
{
    (void)state;
    struct profile *profile = make(false);
    build_wait(profile, 0, "main;[waiting: lock]", 90, 50);
    build_wait(profile, 0, "main;[waiting: read]", 100, 10);
    build_wait(profile, 0, "[short waits]", 105, 2);
    build_wait(profile, 0, "main;[waiting: read]", 110, 10);
    build_wait(profile, 0, "[runnable]", 120, 30);
    build_wait(profile, 0, "main;[waiting: read]", 120, 10);
    build_wait(profile, 0, "main;[waiting: read]", 130, 10);
    build_wait(profile, 0, "main;[waiting: read]", 160, 5);
    assert_int_equal(profile_finish_samples(profile), 0);
    static const struct profile_wait expected[] = {
        {90, 50, 0, 0}, {100, 40, 0, 0}, {105, 2, 0, 0}, {120, 30, 0, 0}, {160, 5, 0, 0}};
    struct profile_waits waits = profile_waits_of(profile, 0);
    struct profile_wait wait;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_true(profile_waits_next(&waits, &wait));
        assert_int_equal(wait.start_ns, expected[i].start_ns);
        assert_int_equal(wait.length_ns, expected[i].length_ns);
    }
    assert_false(profile_waits_next(&waits, &wait));
    profile_free(profile);
}

static void the_object_of_a_wait_is_of_its_time_and_thread(void **state)
{
    (void)state;
    struct profile *profile = make(false);
    const struct profile_sample samples[] = {
        {.time_ns = 90}, {.time_ns = 110}, {.time_ns = 110, .thread = 1}, {.time_ns = 150}};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(profile_add_wait_object(profile, &samples[i], 0, 70 + i), 0);
    profile_sort_wait_objects(profile);
    assert_int_equal(wait_object_of(profile, &(struct profile_wait){100, 50, 0, 0})->number, 71);
    assert_int_equal(wait_object_of(profile, &(struct profile_wait){100, 51, 0, 0})->number, 73);
    assert_int_equal(wait_object_of(profile, &(struct profile_wait){100, 50, 1, 0})->number, 72);
    assert_null(wait_object_of(profile, &(struct profile_wait){100, 5, 0, 0}));
    profile_free(profile);
}

static uint64_t total_of(struct profile *profile, enum profile_metric metric)
{
    assert_int_equal(profile_set_metric(profile, metric), 0);
    return profile_total(profile);
}

static void wall_time_is_the_sum_with_the_stacks_of_both(void **state)
{
    (void)state;
    for (int adds_up = 0; adds_up < 2; adds_up++) {
        struct profile *profile = make(adds_up);
        build_wait(profile, 0, "main;[waiting: read]", 100, 30);
        build_cpu(profile, 0, "main;work", 140, 8);
        build_cpu(profile, 0, "main;work", 150, 8);
        build_wait(profile, 1, "main;[runnable]", 120, 7);
        assert_int_equal(profile_finish_samples(profile), 0);
        size_t count = profile->sample_count;
        assert_int_equal(total_of(profile, PROFILE_CPU), 16);
        assert_int_equal(total_of(profile, PROFILE_OFF_CPU), 37);
        assert_int_equal(total_of(profile, PROFILE_WALL), 53);
        assert_int_equal(total_of(profile, PROFILE_WALL), 53); /* added once */
        assert_int_equal(profile->event_count, 3);
        assert_int_equal(profile->sample_count, count);
        const struct profile_list *wall = profile_list_of(profile, 0, 2);
        assert_int_equal(wall->samples.count, 3);
        assert_false(wall->samples.is_disordered);
        assert_int_equal(total_of(profile, PROFILE_CPU), 16);
        profile_free(profile);
    }
}

static void a_metric_that_was_not_recorded_is_refused(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    const struct profile_event cpu = {.name = profile_string(profile, "cpu-clock")};
    profile_add_event(profile, &cpu);
    assert_int_equal(profile_set_metric(profile, PROFILE_OFF_CPU), -ENOENT);
    assert_int_equal(profile_set_metric(profile, PROFILE_WALL), -ENOENT);
    assert_int_equal(profile_set_metric(profile, PROFILE_CPU), 0);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_leaf_names_the_reason),
        cmocka_unit_test(a_long_reason_is_cut),
        cmocka_unit_test(samples_end_to_end_with_equal_calls_are_one_wait),
        cmocka_unit_test(sums_do_not_cut_a_wait),
        cmocka_unit_test(the_object_of_a_wait_is_of_its_time_and_thread),
        cmocka_unit_test(wall_time_is_the_sum_with_the_stacks_of_both),
        cmocka_unit_test(a_metric_that_was_not_recorded_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
