/* SPDX-License-Identifier: MIT */
/* How numbers and names look to people. */
#include "cli/terminal/ellipsize.h"
#include "cli/terminal/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void counts_are_grouped(void **state)
{
    (void)state;
    assert_string_equal(format_count(0).text, "0");
    assert_string_equal(format_count(999).text, "999");
    assert_string_equal(format_count(23061).text, "23 061");
    assert_string_equal(format_count(UINT64_MAX).text, "18 446 744 073 709 551 615");
    assert_string_equal(format_number_of(0, "sample").text, "0 samples");
    assert_string_equal(format_number_of(1, "sample").text, "1 sample");
    assert_string_equal(format_number_of(2, "thread").text, "2 threads");
    assert_string_equal(format_number_of(UINT64_MAX, "sample").text,
                        "18 446 744 073 709 551 615 samples");
}

static void durations_choose_their_unit(void **state)
{
    (void)state;
    assert_string_equal(format_duration(450).text, "450 ns");
    assert_string_equal(format_duration(2500).text, "2.5 us");
    assert_string_equal(format_duration(45000).text, "45 us");
    assert_string_equal(format_duration(1000000).text, "1 ms");
    assert_string_equal(format_duration(999600000).text, "1.0 s");
    assert_string_equal(format_duration(UINT64_C(12400000000)).text, "12.4 s");
    assert_string_equal(format_duration(UINT64_C(125000000000)).text, "2 min 05 s");
}

static void sizes_choose_their_unit(void **state)
{
    (void)state;
    assert_string_equal(format_bytes(0).text, "0 kB");
    assert_string_equal(format_bytes(1).text, "1 kB");
    assert_string_equal(format_bytes(5800000).text, "5.8 MB");
    assert_string_equal(format_bytes(UINT64_C(12000000000)).text, "12.0 GB");
}

static void a_part_is_never_rounded_up_to_the_whole(void **state)
{
    (void)state;
    assert_string_equal(format_percent(1, 1).text, "100 %");
    assert_string_equal(format_percent(9997, 10000).text, "99.97 %");
    assert_string_equal(format_percent(999999, 1000000).text, "99.99 %");
    assert_string_equal(format_percent(999, 1000).text, "99.9 %");
    assert_string_equal(format_percent(41, 1000).text, "4.1 %");
    assert_string_equal(format_percent(0, 1000).text, "0.0 %");
    assert_string_equal(format_percent(1, 10000).text, "<0.1 %");
    assert_string_equal(format_percent(0, 0).text, "0.0 %");
}

static void expect_fit(const char *name, unsigned columns, const char *fitted)
{
    char out[256];
    assert_string_equal(ellipsize_name(out, sizeof(out), name, columns), fitted);
}

static void long_names_lose_their_innards_first(void **state)
{
    (void)state;
    static const char name[] = "std::vector<std::pair<int, long> >::push_back(int const&)";
    expect_fit(name, 80, name);
    expect_fit(name, 40, "std::vector<…>::push_back(int const&)");
    expect_fit(name, 30, "std::vector<…>::push_back(…)");
    expect_fit(name, 10, "std::vect…");
    expect_fit("f<a>::g<int, long>(std::string)", 25, "f<a>::g<…>(std::string)");
}

static void operators_keep_their_brackets(void **state)
{
    (void)state;
    expect_fit("operator<<(std::ostream&, foo<bar> const&)", 20, "operator<<(…)");
    expect_fit("node::operator->(long, long, long)", 22, "node::operator->(…)");
}

static void columns_count_characters_and_terminals_are_safe(void **state)
{
    (void)state;
    expect_fit("éééé", 4, "éééé");
    expect_fit("ééééé", 4, "ééé…");
    expect_fit("\033[31mred", 20, "?[31mred");
}

static void enormous_names_are_cut(void **state)
{
    (void)state;
    static char name[100000];
    memset(name, '<', sizeof(name) - 1);
    char out[256];
    ellipsize_name(out, sizeof(out), name, 20);
    assert_int_equal(strlen(out), 19 + strlen("…"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_grouped),
        cmocka_unit_test(durations_choose_their_unit),
        cmocka_unit_test(sizes_choose_their_unit),
        cmocka_unit_test(a_part_is_never_rounded_up_to_the_whole),
        cmocka_unit_test(long_names_lose_their_innards_first),
        cmocka_unit_test(operators_keep_their_brackets),
        cmocka_unit_test(columns_count_characters_and_terminals_are_safe),
        cmocka_unit_test(enormous_names_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
