/* SPDX-License-Identifier: MIT */
#include "cli/options/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { LIMIT = 1, CHECK };

static const struct option_spec specs[] = {
    OPTION_HEADING("Output"),
    OPTION_TAKING('o', 'o', "output", "FILE", "Write this file."),
    OPTION_SWITCH('q', 'q', "quiet", "Print errors only."),
    OPTION_SWITCH('v', 'v', "verbose", NULL),
    OPTION_HEADING(NULL),
    OPTION_TAKING(LIMIT, 0, "limit", "N", "Limit."),
    OPTION_MAYBE_TAKING(CHECK, 0, "check", "N", "Check."),
    OPTION_UNSUPPORTED('p', "pid", "is for later"),
    {0},
};

struct expected {
    int id;
    const char *value;
};

/* The words give exactly these options, and then the end. */
static void expect(char *const *words, const struct expected *expected)
{
    struct options options = options_of(words, specs);
    struct error error = {{0}};
    const char *value;
    for (;; expected++) {
        assert_int_equal(options_next(&options, &value, &error), expected->id);
        if (expected->value)
            assert_string_equal(value, expected->value);
        else
            assert_null(value);
        if (expected->id == 0)
            break;
    }
}

#define WORDS(...) ((char *const[]){__VA_ARGS__, NULL})
#define EXPECTED(...) ((const struct expected[]){__VA_ARGS__, {0, NULL}})

static void every_spelling_gives_the_same_value(void **state)
{
    (void)state;
    expect(WORDS("-o", "x", "-oy", "--output", "z", "--output=w=1", "--output="),
           EXPECTED({'o', "x"}, {'o', "y"}, {'o', "z"}, {'o', "w=1"}, {'o', ""}));
}

static void letters_cluster_and_the_last_may_take_a_value(void **state)
{
    (void)state;
    expect(WORDS("-qv", "-qvox", "-qo", "y"),
           EXPECTED({'q', NULL}, {'v', NULL}, {'q', NULL}, {'v', NULL}, {'o', "x"}, {'q', NULL},
                    {'o', "y"}));
}

static void values_may_look_like_options(void **state)
{
    (void)state;
    expect(WORDS("-o", "-q", "--limit", "--"), EXPECTED({'o', "-q"}, {LIMIT, "--"}));
}

static void optional_values_never_take_the_next_word(void **state)
{
    (void)state;
    expect(WORDS("--check", "5", "--check=6"),
           EXPECTED({CHECK, NULL}, {OPTIONS_OPERAND, "5"}, {CHECK, "6"}));
}

static void after_two_dashes_every_word_is_an_operand(void **state)
{
    (void)state;
    expect(WORDS("-q", "--", "-q", "--", "x"),
           EXPECTED({'q', NULL}, {OPTIONS_OPERAND, "-q"}, {OPTIONS_OPERAND, "--"},
                    {OPTIONS_OPERAND, "x"}));
}

static void a_dash_alone_and_an_empty_word_are_operands(void **state)
{
    (void)state;
    expect(WORDS("-", ""), EXPECTED({OPTIONS_OPERAND, "-"}, {OPTIONS_OPERAND, ""}));
}

static void expect_refusal(char *const *words, const char *sentence)
{
    struct options options = options_of(words, specs);
    struct error error = {{0}};
    const char *value;
    assert_int_equal(options_next(&options, &value, &error), -EINVAL);
    assert_string_equal(error.text, sentence);
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    expect_refusal(WORDS("--otput=x"), "unknown option --otput: did you mean --output?");
    expect_refusal(WORDS("--verb"), "unknown option --verb: did you mean --verbose?");
    expect_refusal(WORDS("--nonsense"), "unknown option --nonsense; see --help");
    expect_refusal(WORDS("-x"), "unknown option -x; see --help");
    expect_refusal(WORDS("-o"), "-o needs a value");
    expect_refusal(WORDS("--output"), "--output needs a value");
    expect_refusal(WORDS("--quiet=1"), "--quiet takes no value");
    expect_refusal(WORDS("--pid=1"), "--pid: is for later");
    expect_refusal(WORDS("-p1"), "-p: is for later");
}

static void very_long_words_are_refused_not_overrun(void **state)
{
    (void)state;
    char word[5000] = "--";
    memset(word + 2, 'x', sizeof(word) - 3);
    word[sizeof(word) - 1] = '\0';
    struct options options = options_of(WORDS(word), specs);
    struct error error = {{0}};
    const char *value;
    assert_int_equal(options_next(&options, &value, &error), -EINVAL);
    static const char *const words[] = {"output", NULL};
    assert_null(options_nearest(word, words));
}

static void the_nearest_word_wins_and_far_ones_never(void **state)
{
    (void)state;
    static const char *const words[] = {"record", "report", "convert", "info", NULL};
    assert_string_equal(options_nearest("recrod", words), "record");
    assert_string_equal(options_nearest("reprot", words), "report");
    assert_string_equal(options_nearest("conv", words), "convert");
    assert_string_equal(options_nearest("inf", words), "info");
    assert_null(options_nearest("ls", words));
    assert_null(options_nearest("python", words));
}

static void numbers_are_whole_and_within_bounds(void **state)
{
    (void)state;
    struct error error = {{0}};
    unsigned long number = 7;
    assert_int_equal(options_number("20000", "-F", 1, 20000, &number, &error), 0);
    assert_int_equal(number, 20000);
    static const char *const wrong[] = {"0",  "20001", "",    "x",  "1x",
                                        "-1", "+1",    "1.5", " 1", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        error.text[0] = '\0';
        assert_int_equal(options_number(wrong[i], "-F", 1, 20000, &number, &error), -EINVAL);
        assert_non_null(strstr(error.text, "-F needs a number from 1 to 20000"));
    }
    assert_int_equal(number, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_gives_the_same_value),
        cmocka_unit_test(letters_cluster_and_the_last_may_take_a_value),
        cmocka_unit_test(values_may_look_like_options),
        cmocka_unit_test(optional_values_never_take_the_next_word),
        cmocka_unit_test(after_two_dashes_every_word_is_an_operand),
        cmocka_unit_test(a_dash_alone_and_an_empty_word_are_operands),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(very_long_words_are_refused_not_overrun),
        cmocka_unit_test(the_nearest_word_wins_and_far_ones_never),
        cmocka_unit_test(numbers_are_whole_and_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
