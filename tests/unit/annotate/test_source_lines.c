/* SPDX-License-Identifier: MIT */
#include "annotate/source_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"

static struct source_lines lines_of(const char *text)
{
    struct source_lines lines = {.starts = NULL};
    buffer_text(&lines.text, text);
    buffer_u8(&lines.text, 0);
    assert_int_equal(source_lines_find(&lines), 0);
    return lines;
}

static void assert_line(const struct source_lines *lines, uint32_t line, const char *expected)
{
    size_t length;
    const char *text = source_line(lines, line, &length);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(text, expected, length);
}

static void lines_are_found_in_any_order(void **state)
{
    (void)state;
    struct source_lines lines = lines_of("one\n\nthree\nlast");
    assert_int_equal(lines.count, 4);
    assert_line(&lines, 4, "last");
    assert_line(&lines, 1, "one");
    assert_line(&lines, 3, "three");
    assert_line(&lines, 2, "");
    assert_line(&lines, 0, "");
    assert_line(&lines, 5, "");
    assert_line(&lines, UINT32_MAX, "");
    source_lines_free(&lines);
    lines = lines_of("\n");
    assert_int_equal(lines.count, 1);
    assert_line(&lines, 1, "");
    source_lines_free(&lines);
    lines = lines_of("");
    assert_int_equal(lines.count, 0);
    source_lines_free(&lines);
}

static void a_text_that_is_not_there_has_no_lines(void **state)
{
    (void)state;
    const struct source_lines none = {.starts = NULL};
    assert_line(&none, 1, "");
    struct source_lines empty = {.starts = NULL};
    assert_int_equal(source_lines_find(&empty), 0);
    assert_line(&empty, 1, "");
    source_lines_free(&empty);
}

/* CPU time for a line, many times. */
static uint64_t time_of(const struct source_lines *lines, uint32_t line)
{
    size_t length, sum = 0;
    const uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < 2000; i++)
        sum += (size_t)source_line(lines, line, &length)[0] + length;
    assert_true(sum > 0);
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

/* A search from the first line takes 10 000 times as long. */
static void the_last_line_costs_no_more_than_the_first(void **state)
{
    (void)state;
    enum { LINES = 50000 };
    char *text = malloc(2 * LINES + 1);
    for (size_t i = 0; i < LINES; i++)
        memcpy(text + 2 * i, "x\n", 2);
    text[2 * LINES] = '\0';
    struct source_lines lines = lines_of(text);
    free(text);
    assert_true(time_of(&lines, LINES) < 100 * time_of(&lines, 1));
    source_lines_free(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_found_in_any_order),
        cmocka_unit_test(a_text_that_is_not_there_has_no_lines),
        cmocka_unit_test(the_last_line_costs_no_more_than_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
