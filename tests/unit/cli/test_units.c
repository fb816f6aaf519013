/* SPDX-License-Identifier: MIT */
/* Times and sizes: what people type means what they mean, and nothing else passes. */
#include "cli/options/units.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t time_of(const char *text)
{
    uint64_t time_ns = 0;
    struct error error = {{0}};
    if (units_parse_time(text, "--duration", &time_ns, &error) != 0)
        fail_msg("%s", error.text);
    return time_ns;
}

static uint64_t bytes_of(const char *text)
{
    uint64_t bytes = 0;
    struct error error = {{0}};
    if (units_parse_bytes(text, "--max-size", &bytes, &error) != 0)
        fail_msg("%s", error.text);
    return bytes;
}

static void times_have_units(void **state)
{
    (void)state;
    assert_int_equal(time_of("5"), 5000000000);
    assert_int_equal(time_of("1.5s"), 1500000000);
    assert_int_equal(time_of("0.25"), 250000000);
    assert_int_equal(time_of("200ms"), 200000000);
    assert_int_equal(time_of("2m"), 120000000000);
    assert_int_equal(time_of("2min"), 120000000000);
    assert_int_equal(time_of("1h"), 3600000000000);
}

static void sizes_have_units(void **state)
{
    (void)state;
    assert_int_equal(bytes_of("65536"), 65536);
    assert_int_equal(bytes_of("500K"), 512000);
    assert_int_equal(bytes_of("500k"), 512000);
    assert_int_equal(bytes_of("1.5M"), 1572864);
    assert_int_equal(bytes_of("2G"), UINT64_C(2) << 30);
}

static void per_cents_have_a_fraction_and_a_limit(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "-1", "x", "5 %", "100.1", "5%%", ".5", "1e1", "nan"};
    double percent = 7;
    struct error error = {{0}};
    assert_int_equal(units_parse_percent("0", "--fail-on", &percent, &error), 0);
    assert_true(percent == 0);
    assert_int_equal(units_parse_percent("12.5", "--fail-on", &percent, &error), 0);
    assert_true(percent == 12.5);
    assert_int_equal(units_parse_percent("100%", "--fail-on", &percent, &error), 0);
    assert_true(percent == 100);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(units_parse_percent(wrong[i], "--fail-on", &percent, &error), -EINVAL);
        assert_non_null(strstr(error.text, "--fail-on"));
    }
    assert_true(percent == 100);
}

static void nonsense_is_refused_by_its_name(void **state)
{
    (void)state;
    static const char *const times[] = {"",   "0",   "0.0", "-1", "s",    "1 s",   "1.s",
                                        ".5", "1,5", "1e3", "5x", "5sec", "400m4", "99999999h"};
    static const char *const sizes[] = {"", "0", "1", "63K", "M", "-1M", "1MB", "99999999G", "inf"};
    uint64_t value = 7;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct error error = {{0}};
        assert_int_equal(units_parse_time(times[i], "--duration", &value, &error), -EINVAL);
        assert_non_null(strstr(error.text, "--duration needs a time like"));
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct error error = {{0}};
        assert_int_equal(units_parse_bytes(sizes[i], "--max-size", &value, &error), -EINVAL);
        assert_non_null(strstr(error.text, "--max-size needs a size like"));
    }
    assert_int_equal(value, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(per_cents_have_a_fraction_and_a_limit),
        cmocka_unit_test(nonsense_is_refused_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
