/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include "build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static int open_profile(void **state)
{
    struct profile *profile = profile_new();
    profile_add_event(profile, &(struct profile_event){.name = PROFILE_NONE, .period = 1000});
    build_process(profile, 1, "app");
    build_thread(profile, 0, 1, true, 0);
    *state = profile;
    return 0;
}

static int close_profile(void **state)
{
    profile_free(*state);
    return 0;
}

/* The output, NUL-terminated; to be freed. */
static char *collapse_with(struct profile *profile, const struct export_options *options)
{
    struct buffer out = {0};
    struct error error;
    profile_link_stacks(profile);
    assert_int_equal(export_to_buffer(&export_collapsed, profile, options, false, &out, &error), 0);
    buffer_u8(&out, 0);
    return (char *)out.bytes;
}

static char *collapse(struct profile *profile)
{
    return collapse_with(profile, NULL);
}

static void expect(struct profile *profile, const char *lines)
{
    char *text = collapse(profile);
    assert_string_equal(text, lines);
    free(text);
}

static void lines_are_sorted_by_their_text(void **state)
{
    struct profile *profile = *state;
    build_sample(profile, 0, "main;x", 1000);
    build_sample(profile, 0, "main", 1000);
    build_sample(profile, 0, "main.cold;x", 1000);
    build_sample(profile, 0, "main (x)", 1000);
    build_sample(profile, 0, "main::x;y", 1000);
    build_sample(profile, 0, "main<x>", 1000);
    build_sample(profile, 0, "main;x;y", 1000);
    expect(profile, "app;main 1\napp;main (x) 1\napp;main.cold;x 1\napp;main::x;y 1\n"
                    "app;main;x 1\napp;main;x;y 1\napp;main<x> 1\n");
}

/* The kernel gives ids again: those that had them before stay apart, also under one name. */
static void processes_and_threads_can_be_kept_apart(void **state)
{
    struct profile *profile = *state;
    build_thread(profile, 0, 8, false, 0);
    build_thread(profile, 0, 8, false, 500);
    build_process(profile, 1, "app");
    build_thread(profile, 1, 1, true, 0);
    for (uint32_t thread = 0; thread < 4; thread++)
        build_sample(profile, thread, "main", 1000 * (thread + 1));
    const struct export_options options = {.threads_apart = true};
    char *text = collapse_with(profile, &options);
    profile_link_stacks(profile);
    assert_string_equal(text, "app-1.1;thread-1;main 4\n"
                              "app-1;thread-1;main 1\n"
                              "app-1;thread-8.1;main 3\n"
                              "app-1;thread-8;main 2\n");
    free(text);
}

static void names_can_be_marked_and_addresses_kept(void **state)
{
    struct profile *profile = *state;
    build_sample(profile, 0, "main;inlined;in_kernel;made;0x12", 1000);
    for (size_t i = 0; i < profile->frame_count; i++) {
        struct profile_frame *frame = &profile->frames[i];
        const char *name = profile_text(profile, profile->funcs[frame->func].name);
        frame->inline_depth = strcmp(name, "inlined") == 0;
        if (strcmp(name, "in_kernel") == 0)
            frame->category = PROFILE_KERNEL;
        if (strcmp(name, "made") == 0)
            frame->category = PROFILE_JIT;
    }
    const struct export_options options = {.annotate = true, .addresses = true};
    char *text = collapse_with(profile, &options);
    assert_string_equal(text, "app;main;inlined_[i];in_kernel_[k];made_[j];[0x12] 1\n");
    free(text);
}

static int by_stack(const void *a, const void *b)
{
    const char *l = *(char *const *)a;
    const char *r = *(char *const *)b;
    return strcmp(l, r);
}

/* 3000 random stacks over names that are prefixes of each other, against qsort of the whole lines.
 */
static void any_tree_comes_out_in_sorted_order(void **state)
{
    struct profile *profile = *state;
    static const char *const names[] = {"a", "a b", "ab", "a:", "a<", "a-1", "b", "a (c)"};
    srand(7);
    for (int i = 0; i < 3000; i++) {
        char stack[128] = "";
        for (int depth = 1 + rand() % 6; depth > 0; depth--) {
            strcat(stack, names[rand() % 8]);
            strcat(stack, depth > 1 ? ";" : "");
        }
        build_sample(profile, 0, stack, 1000);
    }
    char *text = collapse(profile);
    char *lines[3001];
    char *sorted[3001];
    size_t count = 0;
    unsigned long total = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *space = strrchr(line, ' ');
        total += strtoul(space, NULL, 10);
        *space = '\0'; /* the order is that of the stacks, not of the counts */
        lines[count] = sorted[count] = line;
        count++;
    }
    qsort(sorted, count, sizeof(*sorted), by_stack);
    assert_int_equal(total, 3000);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(lines[i], sorted[i]);
        assert_true(i == 0 || strcmp(sorted[i - 1], sorted[i]) != 0);
    }
    free(text);
}

static void equal_stacks_of_threads_and_of_equally_named_processes_are_one_line(void **state)
{
    struct profile *profile = *state;
    build_thread(profile, 0, 2, false, 0);
    build_process(profile, 9, "app");
    build_thread(profile, 1, 9, true, 0);
    build_sample(profile, 0, "f", 1000);
    build_sample(profile, 1, "f", 1000);
    build_sample(profile, 2, "f", 1000);
    expect(profile, "app;f 3\n");
}

static void what_is_left_over_goes_to_the_largest_fractions(void **state)
{
    struct profile *profile = *state;
    build_sample(profile, 0, "a", 1400); /* 1.4 */
    build_sample(profile, 0, "b", 400);  /* 0.4, before c by its text */
    build_sample(profile, 0, "c", 400);  /* 0.4 */
    build_sample(profile, 0, "d", 1700); /* 1.7: total 3.9, whole parts 2, two left over */
    expect(profile, "app;a 2\napp;d 2\n");
}

static void a_recording_shorter_than_a_period_is_not_empty(void **state)
{
    struct profile *profile = *state;
    build_sample(profile, 0, "a", 100);
    build_sample(profile, 0, "b", 200);
    expect(profile, "app;b 1\n");
}

static void a_recording_of_nothing_is_empty(void **state)
{
    expect(*state, "");
}

static void without_a_nominal_period_the_mean_weight_is_one(void **state)
{
    struct profile *profile = *state;
    profile->events[0].period = 0;
    build_sample(profile, 0, "a", 300);
    build_sample(profile, 0, "b", 100);
    expect(profile, "app;a 2\n");
}

static void names_cannot_break_the_line(void **state)
{
    struct profile *profile = *state;
    profile->processes[0].name = profile_string(profile, "my;app\n2 ");
    build_sample(profile, 0, "f\n\r\t\x7fg;operator 12;\xff;  padded  ;f 1.5;v2", 1000);
    expect(profile, "my:app_2;f    g;operator_12;\xef\xbf\xbd;padded;f_1.5;v2 1\n");
}

static void a_name_of_nothing_but_blanks_is_unknown(void **state)
{
    struct profile *profile = *state;
    profile->processes[0].name = profile_string(profile, "");
    build_sample(profile, 0, "\t \n;f", 1000);
    expect(profile, "[unknown];[unknown];f 1\n");
}

static void addresses_without_a_name_are_their_lib_s(void **state)
{
    struct profile *profile = *state;
    build_sample(profile, 0, "0x1234;0xg;0x;0xFF", 1000);
    uint32_t lib = profile_lib_id(profile, "/usr/lib/libx.so.1", NULL, 0);
    profile->funcs[0].lib = lib;
    expect(profile, "app;[libx.so.1];0xg;0x;[unknown] 1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_profile, close_profile)

static void two_sides_have_a_count_each(void **state)
{
    struct profile *profile = *state;
    const struct export_diff diff = {.first_new_thread = 1, .base_runs = 1, .new_runs = 1};
    const struct export_options options = {.diff = &diff};
    build_thread(profile, 0, 2, false, 0);
    build_sample(profile, 0, "main;both", 3000);
    build_sample(profile, 1, "main;both", 5400);
    build_sample(profile, 1, "main;added", 1600);
    build_sample(profile, 0, "main;gone", 2000);
    char *text = collapse_with(profile, &options);
    assert_string_equal(text, "app;main;added 0 2\napp;main;both 3 5\napp;main;gone 2 0\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_are_sorted_by_their_text),
        TEST(processes_and_threads_can_be_kept_apart),
        TEST(names_can_be_marked_and_addresses_kept),
        TEST(any_tree_comes_out_in_sorted_order),
        TEST(equal_stacks_of_threads_and_of_equally_named_processes_are_one_line),
        TEST(what_is_left_over_goes_to_the_largest_fractions),
        TEST(a_recording_shorter_than_a_period_is_not_empty),
        TEST(a_recording_of_nothing_is_empty),
        TEST(without_a_nominal_period_the_mean_weight_is_one),
        TEST(names_cannot_break_the_line),
        TEST(a_name_of_nothing_but_blanks_is_unknown),
        TEST(addresses_without_a_name_are_their_lib_s),
        TEST(two_sides_have_a_count_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
