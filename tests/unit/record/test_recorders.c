/* SPDX-License-Identifier: MIT */
#include "record/recorders.h"

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
        assert_true(row->id[0] && row->name[0] && row->description[0] && row->weight_unit[0]);
        assert_true(row->event_name[0] && row->privileges[0]);
        assert_true(row->can_start || row->can_attach);
        assert_true(row->source_count > 0);
        assert_non_null(recorder_parameter(row, "duration")->default_text);
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
        cmocka_unit_test(engines_are_named_by_their_sources),
        cmocka_unit_test(a_source_is_refused_with_the_reason_of_the_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
