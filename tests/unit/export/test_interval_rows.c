/* SPDX-License-Identifier: MIT */
#include "export/firefox/interval_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* "time:call weight delta …" in us; call -: no stack; delta -: unknown CPU time. */
static void take(struct interval_rows *rows, char *text, size_t size)
{
    for (struct interval_row row; interval_rows_next(rows, &row);) {
        size_t used = strlen(text);
        char call[16] = "-", delta[16] = "-";
        if (row.has_cpu_delta)
            snprintf(delta, sizeof(delta), "%u", (unsigned)(row.cpu_delta_ns / 1000));
        if (row.has_stack)
            snprintf(call, sizeof(call), "%u", row.call);
        snprintf(text + used, size - used, "%s%u:%s %u %s", used ? ", " : "",
                 (unsigned)(row.time_ns / 1000), call, (unsigned)(row.weight / 1000), delta);
    }
}

/* Intervals in us. */
static void expect(const struct interval *intervals, size_t count, const char *expected)
{
    struct interval_rows rows = {0};
    char text[512] = "";
    for (size_t i = 0; i < count; i++) {
        struct interval interval = intervals[i];
        interval.start_ns *= 1000, interval.end_ns *= 1000;
        interval.weight = interval.end_ns - interval.start_ns;
        interval_rows_add(&rows, &interval);
        take(&rows, text, sizeof(text));
    }
    interval_rows_finish(&rows);
    take(&rows, text, sizeof(text));
    assert_string_equal(text, expected);
}

#define EXPECT(expected, ...)                      \
    expect((const struct interval[]){__VA_ARGS__}, \
           sizeof((const struct interval[]){__VA_ARGS__}) / sizeof(struct interval), expected)

static void an_interval_is_drawn_to_its_end_and_no_further(void **state)
{
    (void)state;
    EXPECT("100:7 50 0, 149:7 0 -, 150:- 0 -", {.start_ns = 100, .end_ns = 150, .call = 7});
    EXPECT("100:7 50 0, 149:7 0 -, 150:- 0 -, 200:7 10 0, 209:7 0 -, 210:- 0 -",
           {.start_ns = 100, .end_ns = 150, .call = 7},
           {.start_ns = 200, .end_ns = 210, .call = 7});
}

static void intervals_end_to_end_change_the_stack_at_their_border(void **state)
{
    (void)state;
    EXPECT("100:7 50 0, 149:7 0 -, 150:8 10 -, 159:8 0 -, 160:- 0 -",
           {.start_ns = 100, .end_ns = 150, .call = 7},
           {.start_ns = 150, .end_ns = 160, .call = 8});
    /* One wait in two samples. */
    EXPECT("100:7 50 0, 150:7 10 -, 159:7 0 -, 160:- 0 -",
           {.start_ns = 100, .end_ns = 150, .call = 7},
           {.start_ns = 150, .end_ns = 160, .call = 7});
}

static void cpu_samples_reach_to_the_next_one_nearby(void **state)
{
    (void)state;
    EXPECT("100:7 10 0, 113:7 10 13, 122:7 0 9, 123:- 0 1, 200:7 10 0, 209:7 0 9, 210:- 0 1",
           {.start_ns = 100, .end_ns = 110, .call = 7, .is_cpu = true},
           {.start_ns = 113, .end_ns = 123, .call = 7, .is_cpu = true},
           {.start_ns = 200, .end_ns = 210, .call = 7, .is_cpu = true});
}

/* Sums of perf overlap: times of rows do not decrease. */
static void overlapping_intervals_keep_weights_and_order(void **state)
{
    (void)state;
    EXPECT("100:7 100 0, 119:7 0 -, 120:8 100 -, 219:8 0 -, 220:- 0 -",
           {.start_ns = 100, .end_ns = 200, .call = 7},
           {.start_ns = 120, .end_ns = 220, .call = 8});
    EXPECT("100:7 1 0, 101:- 0 -, 102:8 1 0, 103:- 0 -",
           {.start_ns = 100, .end_ns = 101, .call = 7},
           {.start_ns = 102, .end_ns = 103, .call = 8});
}

/* A share of a sum is drawn from the start of a short wait, with a length that was not measured. */
static void a_share_ends_where_the_next_wait_starts(void **state)
{
    (void)state;
    EXPECT("100:7 100 0, 119:7 0 -, 120:8 10 -, 129:8 0 -, 130:- 0 -",
           {.start_ns = 100, .end_ns = 200, .call = 7},
           {.start_ns = 120, .end_ns = 130, .call = 8});
}

static void an_interval_goes_on_behind_a_sum_within(void **state)
{
    (void)state;
    EXPECT("100:7 100 0, 119:7 0 -, 120:8 10 -, 130:7 0 -, 199:7 0 -, 200:- 0 -",
           {.start_ns = 100, .end_ns = 200, .call = 7},
           {.start_ns = 120, .end_ns = 130, .call = 8, .is_sum = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_is_drawn_to_its_end_and_no_further),
        cmocka_unit_test(intervals_end_to_end_change_the_stack_at_their_border),
        cmocka_unit_test(cpu_samples_reach_to_the_next_one_nearby),
        cmocka_unit_test(a_share_ends_where_the_next_wait_starts),
        cmocka_unit_test(an_interval_goes_on_behind_a_sum_within),
        cmocka_unit_test(overlapping_intervals_keep_weights_and_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
