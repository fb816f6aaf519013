/* SPDX-License-Identifier: MIT */
/* A shell reads back each word as it was. */
#include "base/text/shell_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void plain_words_stay(void **state)
{
    (void)state;
    static const char *const words[] = {"gcc", "-O2", "--save=x", "./a_b.c", "user@host:/tmp",
                                        "c++", "%s"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        struct buffer text = {0};
        shell_word_append(&text, words[i]);
        buffer_u8(&text, 0);
        assert_string_equal((char *)text.bytes, words[i]);
        buffer_free(&text);
    }
}

static void a_shell_reads_other_words_back(void **state)
{
    (void)state;
    static const char *const words[] = {"",  "a b", "it's",   "''",  "$HOME", "a\nb",
                                        "*", "~",   "\"\\\"", "x;y", "#"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        struct buffer command = {0};
        char read_back[64] = "";
        buffer_text(&command, "printf %s. ");
        shell_word_append(&command, words[i]);
        buffer_u8(&command, 0);
        FILE *shell = popen((char *)command.bytes, "r");
        assert_non_null(shell);
        size_t size = fread(read_back, 1, sizeof(read_back) - 1, shell);
        assert_int_equal(pclose(shell), 0);
        assert_int_equal(size, strlen(words[i]) + 1);
        assert_memory_equal(read_back, words[i], size - 1);
        buffer_free(&command);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_words_stay),
        cmocka_unit_test(a_shell_reads_other_words_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
