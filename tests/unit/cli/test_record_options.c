/* SPDX-License-Identifier: MIT */
/* What the words of `rec record` ask for. */
#include "cli/options/record_options.h"

#include "record/recorders/recorders.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WORDS(...) ((char *const[]){__VA_ARGS__, NULL})

static struct record_request parsed(char *const *words)
{
    struct record_request request;
    struct error error = {{0}};
    if (record_request_parse(&request, words, &error) != 0)
        fail_msg("%s", error.text);
    return request;
}

static uint32_t frequency_of(char *const *words)
{
    struct record_request request = parsed(words);
    record_request_free(&request);
    return request.options.frequency;
}

static void the_command_begins_at_the_first_word_that_is_no_option(void **state)
{
    (void)state;
    struct record_request request = parsed(WORDS("-q", "ls", "-F", "1", "--", "x"));
    assert_string_equal(request.options.argv[0], "ls");
    assert_string_equal(request.options.argv[1], "-F");
    assert_string_equal(request.options.argv[3], "--");
    assert_int_equal(request.options.frequency, RECORD_FREQUENCY_DEFAULT);
    record_request_free(&request);
}

static void behind_two_dashes_a_commands_name_is_no_command_of_rec(void **state)
{
    (void)state;
    struct record_request request = parsed(WORDS("-v", "--", "report", "-x"));
    assert_string_equal(request.options.argv[0], "report");
    assert_string_equal(request.options.argv[1], "-x");
    assert_true(request.verbose);
    record_request_free(&request);
}

static void rates_and_periods_mean_the_same(void **state)
{
    (void)state;
    assert_int_equal(frequency_of(WORDS("x")), 999);
    assert_int_equal(frequency_of(WORDS("-F", "4000", "x")), 4000);
    assert_int_equal(frequency_of(WORDS("-Fmax", "x")), 20000);
    assert_int_equal(frequency_of(WORDS("--freq=100", "x")), 100);
    assert_int_equal(frequency_of(WORDS("-c", "1000000", "x")), 1000);
    assert_int_equal(frequency_of(WORDS("-c", "50000", "x")), 20000);
    assert_int_equal(frequency_of(WORDS("-c", "3000000", "x")), 333);
    assert_int_equal(frequency_of(WORDS("-c", "1000000000", "x")), 1);
}

static void perf_habits_are_accepted(void **state)
{
    (void)state;
    struct record_request request =
        parsed(WORDS("-g", "--call-graph", "dwarf", "-e", "cpu-clock:u", "-e", "task-clock", "x"));
    assert_string_equal(request.options.argv[0], "x");
    record_request_free(&request);
}

static void each_event_has_a_period_or_a_frequency(void **state)
{
    (void)state;
    struct record_request request =
        parsed(WORDS("-e", "page-faults:u,cycles", "-e", "task-clock", "-e", "cpu-clock", "x"));
    const struct event_request *events = request.options.events;
    assert_int_equal(request.options.event_count, 3);
    assert_int_equal(events[0].period, 1);
    assert_int_equal(events[1].period, 0);
    assert_int_equal(events[1].frequency, RECORD_FREQUENCY_DEFAULT);
    assert_true(events[2].is_clock);
    record_request_free(&request);
    request = parsed(WORDS("-F", "500", "-e", "page-faults", "x"));
    assert_int_equal(request.options.events[0].period, 0);
    assert_int_equal(request.options.events[0].frequency, 500);
    record_request_free(&request);
    request = parsed(WORDS("-c", "10000", "-e", "r1a8", "-e", "page-faults", "x"));
    assert_int_equal(request.options.events[1].period, 10000);
    record_request_free(&request);
}

static void kernel_options_reach_all_events(void **state)
{
    (void)state;
    struct record_request request = parsed(WORDS("--all-kernel", "-e", "page-faults", "x"));
    assert_true(request.options.kernel_stacks && request.options.kernel_only);
    assert_true(request.options.events[0].exclude_user);
    record_request_free(&request);
    request = parsed(WORDS("-e", "cpu-clock:k", "-k", "CLOCK_MONOTONIC", "x"));
    assert_true(request.options.kernel_stacks && request.options.kernel_only);
    record_request_free(&request);
    request = parsed(WORDS("--all-user", "-e", "page-faults", "x"));
    assert_true(request.options.events[0].exclude_kernel);
    record_request_free(&request);
}

static void switches_are_off_until_asked_for(void **state)
{
    (void)state;
    struct record_request request = parsed(WORDS("x"));
    assert_int_equal(request.options.engine, RECORD_ENGINE_AUTO);
    assert_int_equal(request.options.self_check_every, 0);
    assert_false(request.options.no_command_line || request.options.withhold_tables ||
                 request.export_options.embed_source || request.export_options.threads_apart ||
                 request.quiet || request.verbose);
    assert_string_equal(request.outputs.capture, "rec.data");
    assert_int_equal(request.outputs.count, 3);
    record_request_free(&request);
    request = parsed(WORDS("--engine=timer", "--self-check", "--no-cmdline", "--embed-source",
                           "--debug-dir", "d", "--threads", "x"));
    assert_int_equal(request.options.engine, RECORD_ENGINE_TIMER);
    assert_int_equal(request.options.self_check_every, 100);
    assert_true(request.options.no_command_line && request.export_options.embed_source &&
                request.export_options.threads_apart);
    assert_string_equal(request.debug_directory, "d");
    record_request_free(&request);
}

static void beginning_and_end_can_be_chosen(void **state)
{
    (void)state;
    struct record_request request = parsed(WORDS("-D", "1500", "--duration=2m", "--max-size", "3M",
                                                 "--end-command", "--wait-all", "-i", "x"));
    const struct record_options *options = &request.options;
    assert_int_equal(options->delay_ns, 1500000000);
    assert_int_equal(options->duration_ns, 120000000000);
    assert_int_equal(options->size_max, 3 << 20);
    assert_true(options->end_command && options->wait_all && options->no_inherit);
    record_request_free(&request);
    request = parsed(WORDS("--delay=0", "--no-inherit", "x"));
    assert_int_equal(request.options.delay_ns, 0);
    assert_true(request.options.no_inherit);
    assert_false(request.options.end_command || request.options.wait_all);
    record_request_free(&request);
}

static void a_recording_fails_on_what_is_incomplete_if_that_is_given(void **state)
{
    (void)state;
    struct record_request request = parsed(WORDS("x"));
    assert_false(request.fails_on_incomplete);
    record_request_free(&request);
    request = parsed(WORDS("--fail-on=incomplete", "x"));
    assert_true(request.fails_on_incomplete && request.incomplete_max_percent == 5);
    record_request_free(&request);
    request = parsed(WORDS("--fail-on", "incomplete:0.25", "x"));
    assert_true(request.fails_on_incomplete && request.incomplete_max_percent == 0.25);
    record_request_free(&request);
}

static void only_what_is_named_is_written(void **state)
{
    (void)state;
    struct record_request request = parsed(WORDS("-o", "a.pb.gz", "-o", "b.folded", "x"));
    assert_null(request.outputs.capture);
    assert_int_equal(request.outputs.count, 2);
    record_request_free(&request);
}

static void running_processes_take_the_place_of_a_command(void **state)
{
    (void)state;
    struct record_request request = parsed(WORDS("-p", "12,34", "--pid=12", "-p5"));
    assert_null(request.options.argv);
    assert_int_equal(request.options.target_count, 3);
    assert_int_equal(request.options.targets[0], 12);
    assert_int_equal(request.options.targets[1], 34);
    assert_int_equal(request.options.targets[2], 5);
    assert_false(request.options.targets_are_threads);
    record_request_free(&request);
    request = parsed(WORDS("-t", "7"));
    assert_true(request.options.targets_are_threads);
    record_request_free(&request);
}

static int parse_option(const char *option, struct record_request *request)
{
    char *const words[] = {(char *)option, (char *)"x", NULL};
    int err = record_request_parse(request, words, NULL);
    record_request_free(request);
    return err;
}

static int parse_value(const struct record_parameter *row, uint64_t value, const char *suffix)
{
    char option[64];
    struct record_request request;
    snprintf(option, sizeof(option), "--%s=%" PRIu64 "%s", row->name, value, suffix);
    return parse_option(option, &request);
}

static void check_limits(const struct record_parameter *row)
{
    bool is_time = row->type == RECORD_PARAMETER_TIME; /* has no unit below the millisecond */
    uint64_t most = is_time ? row->most / 1000000 : row->most;
    const char *suffix = is_time ? "ms" : "";
    assert_int_equal(parse_value(row, most, suffix), 0);
    assert_int_equal(parse_value(row, most + 1, suffix), -EINVAL);
    if (!is_time)
        assert_int_equal(parse_value(row, row->least, suffix), 0);
    if (row->least > 0)
        assert_int_equal(parse_value(row, row->least - 1, suffix), -EINVAL);
}

static void check_engines(const struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->source_count; i++) {
        char option[64];
        struct record_request request;
        snprintf(option, sizeof(option), "--engine=%s", recorder->sources[i].name);
        assert_int_equal(parse_option(option, &request), 0);
        assert_int_equal(request.options.engine, recorder->sources[i].engine);
    }
}

static void parameters_of_recorders_are_options_with_the_same_limits(void **state)
{
    (void)state;
    const struct recorder *cpu = recorder_find("cpu");
    for (size_t i = 0; i < cpu->parameter_count; i++) {
        const struct record_parameter *row = &cpu->parameters[i];
        char option[64];
        struct record_request request;
        snprintf(option, sizeof(option), "--%s", row->name);
        if (row->type == RECORD_PARAMETER_SWITCH)
            assert_int_equal(parse_option(option, &request), 0);
        else if (row->type == RECORD_PARAMETER_SOURCE)
            check_engines(cpu);
        else
            check_limits(row);
    }
}

static void defaults_are_those_of_the_recorder(void **state)
{
    (void)state;
    const struct recorder *cpu = recorder_find("cpu");
    struct record_request request = parsed(WORDS("x"));
    const struct record_options *options = &request.options;
    assert_int_equal(options->frequency, recorder_parameter(cpu, "freq")->value_default);
    assert_int_equal(options->delay_ns, recorder_parameter(cpu, "delay")->value_default);
    assert_int_equal(options->duration_ns, 0);
    assert_int_equal(options->size_max, 0);
    assert_false(options->no_inherit || options->wait_all);
    record_request_free(&request);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    char *const *const wrong[] = {
        WORDS("-F", "0", "x"),
        WORDS("-F", "20001", "x"),
        WORDS("-c", "49999", "x"),
        WORDS("-e", "cycle", "x"),
        WORDS("-e", "cycles:p", "x"),
        WORDS("-e", "page-faults", "-c", "0", "x"),
        WORDS("-e", "page-faults", "--engine", "timer", "x"),
        WORDS("-e", "page-faults:uk", "--engine", "perf-trap", "x"),
        WORDS("-e", "page-faults", "--fail-on", "incomplete", "x"),
        WORDS("--kernel", "--all-user", "x"),
        WORDS("--kernel", "--engine", "timer", "x"),
        WORDS("-k", "raw", "x"),
        WORDS("-e", "", "x"),
        WORDS("--engine=perf", "x"),
        WORDS("--self-check=", "x"),
        WORDS("--stuck-after", "5s", "x"),
        WORDS("-p", "0"),
        WORDS("-p", "1,"),
        WORDS("-p", "1x"),
        WORDS("-p", "99999999999"),
        WORDS("-a", "-p", "1"),
        WORDS("-C", "1", "-t", "1"),
        WORDS("-C", ""),
        WORDS("-C", "x"),
        WORDS("-C", "1,"),
        WORDS("-C", "1--2"),
        WORDS("-G", ""),
        WORDS("-G", "../x"),
        WORDS("-a", "--engine=timer"),
        WORDS("-a", "--self-check"),
        WORDS("-u", "no-such-user"),
        WORDS("-p", "1", "-t", "2"),
        WORDS("-p", "1", "--engine=timer"),
        WORDS("--engine=perf-ring", "--self-check", "x"),
        WORDS("-p", "1", "--wait-all"),
        WORDS("-p", "1", "--self-check"),
        WORDS("-o", "-", "x"),
        WORDS("-o", "", "x"),
        WORDS("-q"),
        WORDS("--", NULL),
        WORDS("-o", "a", "-o", "b", "x"),
        WORDS("-D", "-1", "x"),
        WORDS("-D", "1s", "x"),
        WORDS("--duration", "0", "x"),
        WORDS("--max-size", "1", "x"),
        WORDS("--end-command", "x"),
        WORDS("--fail-on=", "x"),
        WORDS("--fail-on=incompleteness", "x"),
        WORDS("--fail-on=incomplete:", "x"),
        WORDS("--fail-on=incomplete:101", "x"),
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct record_request request;
        struct error error = {{0}};
        assert_int_equal(record_request_parse(&request, wrong[i], &error), -EINVAL);
        assert_true(strlen(error.text) > 10);
        record_request_free(&request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_command_begins_at_the_first_word_that_is_no_option),
        cmocka_unit_test(behind_two_dashes_a_commands_name_is_no_command_of_rec),
        cmocka_unit_test(rates_and_periods_mean_the_same),
        cmocka_unit_test(perf_habits_are_accepted),
        cmocka_unit_test(each_event_has_a_period_or_a_frequency),
        cmocka_unit_test(kernel_options_reach_all_events),
        cmocka_unit_test(switches_are_off_until_asked_for),
        cmocka_unit_test(beginning_and_end_can_be_chosen),
        cmocka_unit_test(running_processes_take_the_place_of_a_command),
        cmocka_unit_test(a_recording_fails_on_what_is_incomplete_if_that_is_given),
        cmocka_unit_test(only_what_is_named_is_written),
        cmocka_unit_test(parameters_of_recorders_are_options_with_the_same_limits),
        cmocka_unit_test(defaults_are_those_of_the_recorder),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
