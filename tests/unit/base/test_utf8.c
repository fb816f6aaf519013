/* SPDX-License-Identifier: MIT */
#include "base/text/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define BAD "\xef\xbf\xbd"

static void check(const char *text, const char *expected)
{
    struct buffer out = {0};
    utf8_append(&out, text);
    buffer_u8(&out, 0);
    assert_string_equal((const char *)out.bytes, expected);
    buffer_free(&out);
}

static void well_formed_text_is_kept(void **state)
{
    (void)state;
    check("", "");
    check("plain \x01 text", "plain \x01 text");
    check("\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xf0\x90\x80\x80 "
          "\xf4\x8f\xbf\xbf",
          "\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xf0\x90\x80\x80 "
          "\xf4\x8f\xbf\xbf");
}

static void every_byte_of_an_ill_formed_sequence_is_replaced(void **state)
{
    (void)state;
    check("a\x80z", "a" BAD "z");
    check("\xff\xfe", BAD BAD);
    check("\xc0\xaf", BAD BAD);                 /* '/' in two bytes */
    check("\xe0\x80\xaf", BAD BAD BAD);         /* … in three */
    check("\xed\xa0\x80", BAD BAD BAD);         /* a surrogate */
    check("\xf4\x90\x80\x80", BAD BAD BAD BAD); /* past the last code point */
    check("\xf5\x80\x80\x80", BAD BAD BAD BAD);
}

static void check_line(const char *text, const char *expected)
{
    struct buffer out = {0};
    utf8_append_line(&out, text);
    buffer_u8(&out, 0);
    assert_string_equal((const char *)out.bytes, expected);
    buffer_free(&out);
}

static void a_line_holds_nothing_that_acts_on_a_terminal(void **state)
{
    (void)state;
    check_line("", "");
    check_line("std::f<int>(\xc3\xa9) \xf0\x9f\x98\x80", "std::f<int>(\xc3\xa9) \xf0\x9f\x98\x80");
    check_line("a\nb\tc\033]0;x\007\x7f", "a b c ]0;x  ");
    check_line("\xc2\x9b[m\xc2\x85", BAD "[m" BAD);                        /* C1 */
    check_line("\xe2\x80\xae \xe2\x81\xa9 \xd8\x9c", BAD " " BAD " " BAD); /* bidirectional */
    check_line("\xff\xe2\x80", BAD BAD BAD);
    check_line("\xe2\x80\xa6", "\xe2\x80\xa6");
}

static void a_sequence_cut_short_does_not_eat_what_follows(void **state)
{
    (void)state;
    check("\xe2\x82", BAD BAD);
    check("\xe2\x82;x", BAD BAD ";x");
    check("\xf0\x9f\x98\xe2\x82\xac", BAD BAD BAD "\xe2\x82\xac");
}

/* Against the rule spelt out: encode every code point, and see that only these lengths come back.
 */
static void every_code_point_has_the_length_of_its_encoding(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        uint8_t bytes[4] = {(uint8_t)code};
        size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        for (size_t i = length - 1; length > 1 && i > 0; i--)
            bytes[i] = (uint8_t)(0x80 | (code >> (6 * (length - 1 - i)) & 0x3f));
        static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
        if (length > 1)
            bytes[0] = (uint8_t)(lead[length] | code >> (6 * (length - 1)));
        bool is_surrogate = code >= 0xd800 && code < 0xe000;
        assert_int_equal(utf8_length(bytes, length), is_surrogate ? 0 : length);
        if (length > 1)
            assert_int_equal(utf8_length(bytes, length - 1), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_text_is_kept),
        cmocka_unit_test(every_byte_of_an_ill_formed_sequence_is_replaced),
        cmocka_unit_test(a_line_holds_nothing_that_acts_on_a_terminal),
        cmocka_unit_test(a_sequence_cut_short_does_not_eat_what_follows),
        cmocka_unit_test(every_code_point_has_the_length_of_its_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
