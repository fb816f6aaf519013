/* SPDX-License-Identifier: MIT */
#include "export/encoding/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Compares and empties the buffer. */
static void expect(struct buffer *out, const char *text)
{
    buffer_u8(out, 0);
    assert_false(out->failed);
    assert_string_equal((const char *)out->bytes, text);
    buffer_free(out);
}

static void commas_are_where_they_belong(void **state)
{
    (void)state;
    struct buffer out = {0};
    json_open(&out, '{');
    json_member_unsigned(&out, "a", 1);
    json_key(&out, "b");
    json_open(&out, '[');
    json_close(&out, ']');
    json_key(&out, "c");
    json_open(&out, '[');
    json_null(&out);
    json_bool(&out, true);
    json_string(&out, ":");
    json_string(&out, "[");
    json_open(&out, '{');
    json_close(&out, '}');
    json_close(&out, ']');
    json_close(&out, '}');
    expect(&out, "{\"a\":1,\"b\":[],\"c\":[null,true,\":\",\"[\",{}]}");
}

static void strings_are_escaped_and_made_valid_utf8(void **state)
{
    (void)state;
    struct buffer out = {0};
    json_string(&out, "q\" b\\ n\n z\x01 d\x7f \xc3\xa9 \xff\xe2\x82");
    expect(&out, "\"q\\\" b\\\\ n\\u000a z\\u0001 d\\u007f \xc3\xa9 "
                 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void strings_may_stand_in_a_script_element(void **state)
{
    (void)state;
    struct buffer out = {0};
    json_string(&out, "</script><!--<//!a/b<\\/<");
    expect(&out, "\"<\\/script><\\u0021--<\\//!a/b<\\\\/<\"");
    json_string(&out, "/!");
    expect(&out, "\"/!\"");
}

static void characters_that_are_not_printable_are_escaped(void **state)
{
    (void)state;
    struct buffer out = {0};
    json_string(&out, "\xe2\x80\xaeX\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c\xc2\x9b\xe2\x80\xa8\xe2\x80"
                      "\xa9\xef\xbb\xbf");
    expect(&out, "\"\\u202eX\\u2066\\u200f\\u061c\\u009b\\u2028\\u2029\\ufeff\"");
    json_string(&out, "\xe2\x80\xa6 \xf0\x9f\x98\x80");
    expect(&out, "\"\xe2\x80\xa6 \xf0\x9f\x98\x80\"");
}

static void whole_numbers_keep_all_their_digits(void **state)
{
    (void)state;
    struct buffer out = {0};
    json_open(&out, '[');
    json_unsigned(&out, UINT64_MAX);
    json_integer(&out, INT64_MIN);
    json_integer(&out, -1);
    json_integer(&out, 0);
    json_integer(&out, INT64_MAX);
    json_close(&out, ']');
    expect(&out, "[18446744073709551615,-9223372036854775808,-1,0,9223372036854775807]");
}

static void millionths_are_exact_and_short(void **state)
{
    (void)state;
    struct buffer out = {0};
    json_open(&out, '[');
    json_millionths(&out, 0);
    json_millionths(&out, 1);
    json_millionths(&out, 100000);
    json_millionths(&out, 1000000);
    json_millionths(&out, 12345678);
    json_millionths(&out, UINT64_MAX);
    json_close(&out, ']');
    expect(&out, "[0,0.000001,0.1,1,12.345678,18446744073709.551615]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_are_where_they_belong),
        cmocka_unit_test(strings_are_escaped_and_made_valid_utf8),
        cmocka_unit_test(strings_may_stand_in_a_script_element),
        cmocka_unit_test(characters_that_are_not_printable_are_escaped),
        cmocka_unit_test(whole_numbers_keep_all_their_digits),
        cmocka_unit_test(millionths_are_exact_and_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
