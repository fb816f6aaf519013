/* SPDX-License-Identifier: MIT */
/*
 * A profile small enough to add up by hand. Each sample is written as its functions from the thread's
 * root to the leaf, and a weight:
 *
 *     a b c  10      a is the root of all
 *     a b     5
 *     a d d c 20     d calls itself
 *     a c d c  1     c is below itself, with d between
 */
#include "cli/report/report_rows.h"

#include "base/containers/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t func(struct profile *profile, char letter)
{
    const char name[] = {letter, '\0'};
    uint32_t string = profile_string(profile, name);
    struct profile_func func = {.name = string,
                                .system_name = string,
                                .lib = 0,
                                .file = profile_string(profile, "dir/file.c"),
                                .line = (uint32_t)(letter - 'a') + 1};
    return profile_func_id(profile, &func);
}

/* Every call gets a frame of its own: other addresses, the same function. */
static void add_sample(struct profile *profile, const char *functions, uint64_t weight)
{
    uint32_t call = PROFILE_NONE;
    for (; *functions; functions++) {
        struct profile_frame frame = {.func = func(profile, *functions),
                                      .lib = 0,
                                      .file = PROFILE_NONE,
                                      .symbol = PROFILE_NONE,
                                      .svma = profile->frame_count};
        uint32_t address = profile_address_id(profile, 0, frame.svma);
        profile->addresses[address].first_frame = profile_add_frame(profile, &frame);
        profile->addresses[address].frame_count = 1;
        call = profile_call_id(profile, call, address);
    }
    const struct profile_sample sample = {.weight = weight, .call = call};
    assert_int_equal(profile_add_sample(profile, &sample), 0);
}

static struct profile *profile_of_app(void)
{
    struct profile *profile = profile_new();
    profile_lib_id(profile, "/usr/bin/app", NULL, 0);
    ARRAY_PUSH(profile->threads, profile->thread_count, profile->thread_capacity);
    return profile;
}

static struct profile *small_profile(void)
{
    struct profile *profile = profile_of_app();
    add_sample(profile, "abc", 10);
    add_sample(profile, "ab", 5);
    add_sample(profile, "addc", 20);
    add_sample(profile, "acdc", 1);
    profile_link_stacks(profile);
    return profile;
}

static const char *name_of(const struct report *report, uint32_t f)
{
    return profile_text(report->profile, report->profile->funcs[f].name);
}

static void functions_have_self_time_and_count_once_a_stack(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t self, total;
    } expected[] = {{"c", 31, 31}, {"b", 5, 15}, {"a", 0, 36}, {"d", 0, 21}};
    struct profile *profile = small_profile();
    struct report report;
    assert_int_equal(report_build(&report, profile), 0);
    assert_int_equal(report.total, 36);
    assert_int_equal(report.function_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(name_of(&report, report.functions[i].func), expected[i].name);
        assert_int_equal(report.functions[i].self, expected[i].self);
        assert_int_equal(report.functions[i].total, expected[i].total);
    }
    report_free(&report);
    profile_free(profile);
}

/* Depth first, biggest first: "a36(d20(c20)b15(c10)c1(d1(c1)))". */
static void write_tree(const struct report *report, uint32_t node, char *out)
{
    for (uint32_t child = report->nodes[node].first_child; child != PROFILE_NONE;
         child = report->nodes[child].next_sibling) {
        char total[24];
        snprintf(total, sizeof(total), "%d", (int)report->nodes[child].total);
        strcat(out, name_of(report, report->nodes[child].func));
        strcat(out, total);
        if (report->nodes[child].first_child != PROFILE_NONE) {
            strcat(out, "(");
            write_tree(report, child, out);
            strcat(out, ")");
        }
    }
}

static void the_tree_merges_addresses_and_folds_recursion(void **state)
{
    (void)state;
    struct profile *profile = small_profile();
    struct report report;
    char tree[256] = "";
    assert_int_equal(report_build(&report, profile), 0);
    write_tree(&report, 0, tree);
    assert_string_equal(tree, "a36(d20(c20)b15(c10)c1(d1(c1)))");
    report_free(&report);
    profile_free(profile);
}

static void check_around(const struct profile *profile, char name, bool is_upwards,
                         const char *expected)
{
    bool *chosen = calloc(profile->func_count, sizeof(*chosen));
    struct report report;
    char tree[256] = "";
    for (size_t i = 0; i < profile->func_count; i++)
        chosen[i] = profile_text(profile, profile->funcs[i].name)[0] == name;
    assert_int_equal(report_build_around(&report, profile, chosen, is_upwards), 0);
    write_tree(&report, 0, tree);
    assert_string_equal(tree, expected);
    assert_int_equal(report.total, 36);
    report_free(&report);
    free(chosen);
}

static void callers_and_callees_begin_at_the_outermost_call(void **state)
{
    (void)state;
    struct profile *profile = small_profile();
    check_around(profile, 'c', true, "c31(d20(a20)b10(a10)a1)");
    check_around(profile, 'c', false, "c31(d1(c1))");
    check_around(profile, 'd', true, "d21(a20c1(a1))");
    check_around(profile, 'd', false, "d21(c21)");
    check_around(profile, 'x', true, "");
    profile_free(profile);
}

static void rows_are_sums_of_modules_and_threads(void **state)
{
    (void)state;
    struct profile *profile = small_profile();
    struct report report;
    struct report_rows rows;
    const struct report_rows_limit all = {.most = SIZE_MAX, .with_callers = true};
    assert_int_equal(report_build(&report, profile), 0);
    assert_int_equal(report_rows_build(&rows, &report, REPORT_MODULES, &all), 0);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].name, "/usr/bin/app");
    assert_int_equal(rows.items[0].self, 36);
    assert_int_equal(rows.items[0].total, 36);
    report_rows_free(&rows);
    const struct report_rows_limit most = {.least_percent = 50, .most = SIZE_MAX};
    assert_int_equal(report_rows_build(&rows, &report, REPORT_FUNCTIONS, &most), 0);
    assert_int_equal(rows.count, 1);
    assert_string_equal(rows.items[0].name, "c");
    assert_string_equal(rows.items[0].place, "file.c:3");
    report_rows_free(&rows);
    report_free(&report);
    profile_free(profile);
}

/* Addresses that nobody could name would else fill the table with one line each. */
static void nameless_code_is_one_function_a_module(void **state)
{
    (void)state;
    struct profile *profile = small_profile();
    struct report report;
    for (size_t i = 0; i < profile->func_count; i++) {
        struct profile_func *f = &profile->funcs[i];
        bool is_b_or_c = strchr("bc", profile_text(profile, f->name)[0]) != NULL;
        f->file = PROFILE_NONE;
        if (is_b_or_c)
            f->name = profile_string(profile, i % 2 ? "0x1234" : "0xabcd");
    }
    assert_int_equal(report_build(&report, profile), 0);
    assert_string_equal(report_name(profile, report.functions[0].func), "[no name]");
    assert_int_equal(report.functions[0].self, 36);
    assert_int_equal(report.functions[0].total, 36);
    assert_int_equal(report.functions[1].self, 0);
    report_free(&report);
    profile_free(profile);
}

static void samples_without_a_stack_still_count(void **state)
{
    (void)state;
    struct profile *profile = small_profile();
    struct report report;
    add_sample(profile, "", 64);
    assert_int_equal(report_build(&report, profile), 0);
    assert_int_equal(report.total, 100);
    assert_int_equal(report.nodes[0].self, 64);
    report_free(&report);
    profile_free(profile);
}

static void an_empty_profile_is_an_empty_report(void **state)
{
    (void)state;
    struct profile *profile = profile_new();
    struct report report;
    assert_int_equal(report_build(&report, profile), 0);
    assert_int_equal(report.total, 0);
    assert_int_equal(report.function_count, 0);
    assert_int_equal(report.nodes[0].first_child, PROFILE_NONE);
    report_free(&report);
    profile_free(profile);
}

static void a_million_calls_deep_is_no_problem(void **state)
{
    (void)state;
    enum { DEPTH = 1000000 };
    struct profile *profile = profile_of_app();
    char *functions = malloc(DEPTH + 1);
    for (size_t i = 0; i < DEPTH; i++)
        functions[i] = i % 2 ? 'a' : 'b';
    functions[DEPTH] = '\0';
    add_sample(profile, functions, 7);
    profile_link_stacks(profile);
    free(functions);
    struct report report;
    assert_int_equal(report_build(&report, profile), 0);
    assert_int_equal(report.functions[0].self, 7);
    assert_int_equal(report.functions[0].total, 7);
    assert_int_equal(report.functions[1].total, 7);
    report_free(&report);
    profile_free(profile);
}

static void places_are_a_file_name_and_a_line(void **state)
{
    (void)state;
    struct profile *profile = small_profile();
    assert_string_equal(report_place(profile, func(profile, 'c')).text, "file.c:3");
    profile->funcs[0].line = 0;
    assert_string_equal(report_place(profile, 0).text, "file.c");
    profile->funcs[0].file = PROFILE_NONE;
    assert_string_equal(report_place(profile, 0).text, "");
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_self_time_and_count_once_a_stack),
        cmocka_unit_test(callers_and_callees_begin_at_the_outermost_call),
        cmocka_unit_test(rows_are_sums_of_modules_and_threads),
        cmocka_unit_test(the_tree_merges_addresses_and_folds_recursion),
        cmocka_unit_test(nameless_code_is_one_function_a_module),
        cmocka_unit_test(samples_without_a_stack_still_count),
        cmocka_unit_test(an_empty_profile_is_an_empty_report),
        cmocka_unit_test(a_million_calls_deep_is_no_problem),
        cmocka_unit_test(places_are_a_file_name_and_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
