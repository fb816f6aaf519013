/* SPDX-License-Identifier: MIT */
#include "view/http/listen.h"
#include "view/http/token.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void the_port_of_a_listener_is_taken(void **state)
{
    (void)state;
    struct listener first, second;
    struct error error = {{0}};
    assert_int_equal(listener_open(&first, NULL, 0, &error), 0);
    assert_in_range(first.port, LISTEN_FIRST_PORT, LISTEN_LAST_PORT);
    assert_int_equal(listener_open(&second, NULL, first.port, &error), -EADDRINUSE);
    assert_int_equal(second.fd, -EADDRINUSE);
    assert_int_equal(listener_open(&second, NULL, 0, &error), 0);
    assert_int_not_equal(first.port, second.port);
    listener_close(&first);
    listener_close(&second);
}

static void hosts_are_addresses_with_the_port(void **state)
{
    (void)state;
    const struct listener v4 = {.port = 3000, .host = "127.0.0.1"};
    assert_true(listener_is_host(&v4, "127.0.0.1:3000"));
    assert_true(listener_is_host(&v4, "LOCALHOST:3000"));
    static const char *const wrong[] = {NULL,
                                        "",
                                        ":",
                                        ":3000",
                                        "127.0.0.1",
                                        "127.0.0.1:300",
                                        "127.0.0.1:30000",
                                        "127.0.0.1:03000",
                                        "127.0.0.1.evil.test:3000",
                                        "evil.test:3000",
                                        "127.0.0.2:3000",
                                        "localhost.:3000",
                                        "[::1]:3000"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(listener_is_host(&v4, wrong[i]));
    const struct listener v6 = {.port = 3000, .host = "[::1]"};
    assert_true(listener_is_host(&v6, "[::1]:3000"));
    assert_true(listener_is_host(&v6, "localhost:3000"));
    assert_false(listener_is_host(&v6, "::1:3000"));
}

static void a_listener_on_all_addresses_refuses_names(void **state)
{
    (void)state;
    const struct listener any = {.port = 3000, .host = "0.0.0.0", .is_any = true};
    assert_true(listener_is_host(&any, "192.0.2.1:3000"));
    assert_true(listener_is_host(&any, "[2001:db8::1]:3000"));
    assert_false(listener_is_host(&any, "evil.test:3000"));
    assert_false(listener_is_host(&any, "localhost:3000"));
    assert_false(listener_is_host(&any, "[192.0.2.1]:3000"));
    assert_false(listener_is_host(&any, ":3000"));
    assert_false(listener_is_host(&any, "[]:3000"));
}

static void a_token_is_random_and_compared_whole(void **state)
{
    (void)state;
    struct token first, second;
    assert_int_equal(token_make(&first), 0);
    assert_int_equal(token_make(&second), 0);
    assert_int_equal(strlen(first.text), TOKEN_CHARACTERS);
    assert_string_not_equal(first.text, second.text);
    assert_true(token_is(&first, first.text, TOKEN_CHARACTERS));
    assert_false(token_is(&first, first.text, (size_t)TOKEN_CHARACTERS - 1));
    for (size_t i = 0; i < TOKEN_CHARACTERS; i++) {
        struct token other = first;
        other.text[i] = other.text[i] == 'a' ? 'b' : 'a';
        assert_false(token_is(&first, other.text, TOKEN_CHARACTERS));
    }
    first.text[0] = '\0'; /* used up */
    assert_false(token_is(&first, first.text, TOKEN_CHARACTERS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_port_of_a_listener_is_taken),
        cmocka_unit_test(hosts_are_addresses_with_the_port),
        cmocka_unit_test(a_listener_on_all_addresses_refuses_names),
        cmocka_unit_test(a_token_is_random_and_compared_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
