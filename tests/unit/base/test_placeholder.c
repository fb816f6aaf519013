/* SPDX-License-Identifier: MIT */
/* Places that stand for names are told from names, operators among them. */
#include "base/text/placeholder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_module_and_a_place_are_no_name(void **state)
{
    (void)state;
    assert_true(name_is_placeholder("libfoo.so.1+0x1234"));
    assert_true(name_is_placeholder("lib+0x1.so+0xabcdef"));
}

static void names_with_a_plus_are_names(void **state)
{
    (void)state;
    assert_false(name_is_placeholder(""));
    assert_false(name_is_placeholder("operator+"));
    assert_false(name_is_placeholder("f<0x10+0x>"));
    assert_false(name_is_placeholder("f+0x"));
    assert_false(name_is_placeholder("f+0x12 [cold]"));
    assert_false(name_is_placeholder("f+12"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_and_a_place_are_no_name),
        cmocka_unit_test(names_with_a_plus_are_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
