/* SPDX-License-Identifier: MIT */
#include "base/text/decimal.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void check(uint64_t value)
{
    char expected[32];
    snprintf(expected, sizeof(expected), "%" PRIu64, value);
    struct buffer out = {0};
    decimal_append(&out, value);
    assert_int_equal(out.size, strlen(expected));
    assert_memory_equal(out.bytes, expected, out.size);
    buffer_free(&out);
}

static void numbers_read_as_printf_writes_them(void **state)
{
    (void)state;
    check(0);
    check(UINT64_MAX);
    for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
        check(power - 1);
        check(power);
        check(power + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_read_as_printf_writes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
