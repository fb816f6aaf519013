/* SPDX-License-Identifier: MIT */
#include "record/recorders/recorders.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void ids_are_unique_and_find_their_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECORDERS; i++)
        assert_ptr_equal(recorder_find(recorders[i].id), &recorders[i]);
    for (size_t i = 0; i < RECORD_SOURCES; i++)
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(record_sources[i].name, record_sources[j].name);
            assert_int_not_equal(record_sources[i].engine, record_sources[j].engine);
        }
    assert_null(recorder_find("memory"));
    assert_null(recorder_find(""));
}

static void every_row_is_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECORDERS; i++) {
        const struct recorder *row = &recorders[i];
        assert_true(row->id[0] && row->name[0] && row->description[0]);
        assert_true(row->event_count > 0 && row->privileges[0]);
        assert_true(row->can_start || row->can_attach);
        assert_true(row->source_count > 0);
        assert_true(!row->is_always_on || recorder_parameter(row, "duration")->default_text);
    }
}

static void check_parameter(const struct recorder *recorder, const struct record_parameter *row)
{
    assert_ptr_equal(recorder_parameter(recorder, row->name), row);
    assert_true(row->help[0]);
    bool is_number = row->type == RECORD_PARAMETER_INTEGER || row->type == RECORD_PARAMETER_TIME ||
                     row->type == RECORD_PARAMETER_SIZE;
    assert_int_equal(is_number, row->unit != NULL);
    if (!is_number)
        return;
    assert_true(row->least < row->most);
    if (!row->default_text)
        assert_in_range(row->value_default, row->least, row->most);
}

static void parameters_are_unique_and_their_defaults_within_the_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < RECORDERS; i++)
        for (size_t j = 0; j < recorders[i].parameter_count; j++)
            check_parameter(&recorders[i], &recorders[i].parameters[j]);
    assert_null(recorder_parameter(&recorders[0], "frequenc"));
}

static void rings_hold_events_of_cpu_and_of_hooks_alone(void **state)
{
    (void)state;
    assert_true(recorders_event_is_of_target(RECORD_EVENT_CPU));
    assert_true(recorders_event_is_of_target(RECORD_EVENT_THREAD_JOIN));
    assert_false(recorders_event_is_of_target(RECORD_EVENT_OFF_CPU));
    assert_false(recorders_event_is_of_target(RECORD_EVENTS));
}

static void every_event_is_of_one_recorder(void **state)
{
    (void)state;
    struct perfdata_event_row rows[PERFDATA_EVENTS_MAX] = {{0}};
    unsigned owners[RECORD_EVENTS] = {0};
    for (size_t i = 0; i < RECORDERS; i++)
        for (size_t j = 0; j < recorders[i].event_count; j++)
            owners[recorders[i].events[j].id]++;
    recorders_describe(UINT32_MAX, 1000, rows);
    for (size_t i = 0; i < PERFDATA_EVENTS_MAX; i++) {
        assert_int_equal(i < RECORD_EVENTS, rows[i].name != NULL);
        if (i < RECORD_EVENTS)
            assert_int_equal(owners[i], 1);
    }
}

static void only_chosen_recorders_have_events_in_the_capture(void **state)
{
    (void)state;
    struct perfdata_event_row rows[PERFDATA_EVENTS_MAX] = {{0}};
    recorders_describe(0, 1000, rows);
    assert_string_equal(rows[RECORD_EVENT_CPU].name, "cpu-clock");
    assert_int_equal(rows[RECORD_EVENT_CPU].period, 1000);
    for (size_t i = 1; i < PERFDATA_EVENTS_MAX; i++)
        assert_null(rows[i].name);
}

static void recorders_that_exclude_each_other_are_refused(void **state)
{
    (void)state;
    static const struct recorder rows[] = {{.id = "cpu", .can_start = true, .can_attach = true},
                                           {.id = "wall", .excludes = "waits", .can_start = true},
                                           {.id = "waits", .can_start = true}};
    struct error error = {{0}};
    assert_int_equal(recorders_check(rows, 3, 1 | 1 << 2, false, &error), 0);
    assert_int_equal(recorders_check(rows, 3, 1 << 1, false, &error), 0);
    assert_int_equal(recorders_check(rows, 3, 1 << 1 | 1 << 2, false, &error), -EINVAL);
    assert_string_equal(error.text,
                        "wall and waits cannot record at the same time: leave one of them out");
    assert_int_equal(recorders_check(rows, 3, 1, true, &error), 0);
    assert_int_equal(recorders_check(rows, 3, 1 << 2, true, &error), -EINVAL);
    assert_string_equal(
        error.text,
        "waits has no hooks in programs recorded from outside (-p, -t, --engine perf-ring): "
        "use rec --record waits -- COMMAND");
}

static void engines_are_named_by_their_sources(void **state)
{
    (void)state;
    assert_string_equal(record_engine_name(RECORD_ENGINE_PERF_TRAP), "perf-trap");
    assert_string_equal(record_engine_name(RECORD_ENGINE_TIMER), "timer");
    assert_string_equal(record_engine_name(RECORD_ENGINE_AUTO), "auto");
}

static void a_source_is_refused_with_the_reason_of_the_probe(void **state)
{
    (void)state;
    const struct record_probe none = {.perf_trap_reason = "forbidden", .timer_reason = "no timer"};
    const struct record_probe all = {.perf_trap = true, .timer = true};
    assert_string_equal(record_sources[0].refusal(&none), "forbidden");
    assert_string_equal(record_sources[1].refusal(&none), "no timer");
    assert_null(record_sources[0].refusal(&all));
    assert_null(record_sources[1].refusal(&all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_unique_and_find_their_rows),
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(parameters_are_unique_and_their_defaults_within_the_limits),
        cmocka_unit_test(rings_hold_events_of_cpu_and_of_hooks_alone),
        cmocka_unit_test(every_event_is_of_one_recorder),
        cmocka_unit_test(only_chosen_recorders_have_events_in_the_capture),
        cmocka_unit_test(recorders_that_exclude_each_other_are_refused),
        cmocka_unit_test(engines_are_named_by_their_sources),
        cmocka_unit_test(a_source_is_refused_with_the_reason_of_the_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
