/* SPDX-License-Identifier: MIT */
/* What must not reach a terminal: names in captures are chosen by whoever wrote the program. */
#include "base/text/error.h"
#include "base/text/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void expect(const char *text, const char *shown)
{
    char out[256];
    assert_string_equal(text_escape(out, sizeof(out), text), shown);
}

static void control_characters_are_replaced(void **state)
{
    (void)state;
    expect("\033]0;title\007name", "?]0;title?name");
    expect("a\nb\tc\rd\x7f", "a?b?c?d?");
    expect("\x9b"
           "31m",
           "?31m"); /* the one-byte CSI */
    expect("\xc2\x9b"
           "31m",
           "??31m"); /* the same, in UTF-8 */
}

static void ordinary_text_stays_in_every_language(void **state)
{
    (void)state;
    expect("std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)");
    expect("\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
    expect("", "");
}

static void invalid_utf8_is_replaced(void **state)
{
    (void)state;
    expect("a\xff"
           "b\xc3",
           "a?b?");
    expect("\xc0\xaf", "??");           /* overlong slash */
    expect("\xe0\x80\xaf", "???");      /* longer still */
    expect("\xed\xa0\x80", "???");      /* a surrogate */
    expect("\xf4\x90\x80\x80", "????"); /* above U+10FFFF */
    expect("\xe4\xb8", "??");           /* ends in the middle */
}

static void bidirectional_overrides_are_replaced(void **state)
{
    (void)state;
    expect("a\xe2\x80\xae"
           "b",
           "a???b");                        /* U+202E */
    expect("\xe2\x81\xa6", "???");          /* U+2066 */
    expect("\xe2\x80\x8f", "???");          /* U+200F */
    expect("\xd8\x9c", "??");               /* U+061C */
    expect("\xe2\x80\xa6", "\xe2\x80\xa6"); /* an ellipsis is none */
}

static void output_ends_at_its_size_between_characters(void **state)
{
    (void)state;
    char out[12];
    text_escape(out, sizeof(out), "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
    assert_true(strlen(out) < sizeof(out));
    assert_int_equal(strlen(out) % 2, 0);
    char tiny[3] = "xx";
    text_escape(tiny, sizeof(tiny), "long");
    assert_string_equal(tiny, "");
}

static void expect_printed(const char *expected, const char *format, const char *argument)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    text_print(stream, format, argument);
#pragma GCC diagnostic pop
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void a_line_ends_where_the_format_says_so_and_nowhere_else(void **state)
{
    (void)state;
    char longest[6000];
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    expect_printed("name ?[31mtwo\n", "name %s\n", "\033[31mtwo");
    expect_printed("x?rec: wrote /etc/passwd\n", "%s\n", "x\nrec: wrote /etc/passwd");
    expect_printed("x??\n", "%s\n", "x\n\n");
    expect_printed("x?", "%s", "x\n");
    expect_printed("\n", "%s\n", "");
    expect_printed("", "%s", "");
    longest[4095] = '\0'; /* the newline of the format does not fit beside it */
    char line[4097];
    snprintf(line, sizeof(line), "%.4092s\n", longest);
    expect_printed(line, "%s\n", longest);
}

static void a_message_is_one_line_whatever_is_in_it(void **state)
{
    (void)state;
    char text[64] = {0};
    FILE *file = tmpfile();
    int err = dup(STDERR_FILENO);
    assert_true(file && dup2(fileno(file), STDERR_FILENO) >= 0);
    log_info("%s: is no file", "x\nrec: all is well");
    dup2(err, STDERR_FILENO);
    close(err);
    rewind(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "rec: x?rec: all is well: is no file\n");
}

/* As in `rec report >log 2>&1`. */
static void what_is_said_comes_after_what_was_printed(void **state)
{
    (void)state;
    char text[64] = {0};
    fflush(stdout);
    FILE *file = tmpfile();
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    assert_true(file && dup2(fileno(file), STDOUT_FILENO) >= 0 &&
                dup2(fileno(file), STDERR_FILENO) >= 0);
    printf("a table without an end, ");
    log_error("and why");
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    rewind(file);
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "a table without an end, rec: and why\n");
}

static void error_sentences_are_cut_not_overrun(void **state)
{
    (void)state;
    struct error error;
    char big[2000];
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    assert_int_equal(error_set(&error, -5, "%s", big), -5);
    assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
    assert_int_equal(error_set(NULL, -7, "%s", big), -7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(ordinary_text_stays_in_every_language),
        cmocka_unit_test(invalid_utf8_is_replaced),
        cmocka_unit_test(bidirectional_overrides_are_replaced),
        cmocka_unit_test(output_ends_at_its_size_between_characters),
        cmocka_unit_test(a_line_ends_where_the_format_says_so_and_nowhere_else),
        cmocka_unit_test(a_message_is_one_line_whatever_is_in_it),
        cmocka_unit_test(what_is_said_comes_after_what_was_printed),
        cmocka_unit_test(error_sentences_are_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
