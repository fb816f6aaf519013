/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/spans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void nothing_is_found_in_an_empty_set(void **state)
{
    (void)state;
    struct spans spans = {0};
    assert_int_equal(spans_flatten(&spans), 0);
    assert_int_equal(spans_find(&spans, 0), SPAN_NONE);
    spans_free(&spans);
}

static void the_innermost_of_nested_spans_is_found(void **state)
{
    (void)state;
    struct spans spans = {0};
    spans_add(&spans, 0x118, 0x120, 2, 12);
    spans_add(&spans, 0x100, 0x180, 0, 10);
    spans_add(&spans, 0x110, 0x140, 1, 11);
    spans_add(&spans, 0x200, 0x210, 0, 20);
    assert_int_equal(spans_flatten(&spans), 0);
    static const struct {
        uint64_t svma;
        uint32_t value;
    } expected[] = {{0xff, SPAN_NONE},
                    {0x100, 10},
                    {0x10f, 10},
                    {0x110, 11},
                    {0x117, 11},
                    {0x118, 12},
                    {0x11f, 12},
                    {0x120, 11},
                    {0x13f, 11},
                    {0x140, 10},
                    {0x17f, 10},
                    {0x180, SPAN_NONE},
                    {0x1ff, SPAN_NONE},
                    {0x200, 20},
                    {0x20f, 20},
                    {0x210, SPAN_NONE},
                    {UINT64_MAX, SPAN_NONE}};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_int_equal(spans_find(&spans, expected[i].svma), expected[i].value);
    spans_free(&spans);
}

static void of_equal_spans_the_deepest_is_found(void **state)
{
    (void)state;
    struct spans spans = {0};
    spans_add(&spans, 0x10, 0x20, 2, 2);
    spans_add(&spans, 0x10, 0x20, 0, 0);
    spans_add(&spans, 0x10, 0x20, 1, 1);
    assert_int_equal(spans_flatten(&spans), 0);
    assert_int_equal(spans_find(&spans, 0x10), 2);
    spans_free(&spans);
}

/* Ranges that overlap without being nested, as only odd files have them: whichever of the spans
 * over an address is found, it is one of them. The oracle looks at every span. */
static void random_overlaps_yield_a_span_that_holds_the_address(void **state)
{
    (void)state;
    enum { SPANS = 40, END = 300 };
    srandom(1);
    for (int round = 0; round < 200; round++) {
        struct spans spans = {0};
        uint64_t low[SPANS], high[SPANS];
        for (uint32_t i = 0; i < SPANS; i++) {
            low[i] = (uint64_t)random() % END;
            high[i] = low[i] + (uint64_t)random() % 40;
            assert_int_equal(spans_add(&spans, low[i], high[i], (uint32_t)random() % 4, i), 0);
        }
        assert_int_equal(spans_flatten(&spans), 0);
        for (uint64_t svma = 0; svma < END + 50; svma++) {
            uint32_t found = spans_find(&spans, svma);
            uint64_t latest = 0;
            int is_held = 0;
            for (uint32_t i = 0; i < SPANS; i++)
                if (low[i] <= svma && svma < high[i]) {
                    is_held = 1;
                    latest = low[i] > latest ? low[i] : latest;
                }
            assert_int_equal(found != SPAN_NONE, is_held);
            if (is_held) {
                assert_true(low[found] == latest);
                assert_true(svma < high[found]);
            }
        }
        spans_free(&spans);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_found_in_an_empty_set),
        cmocka_unit_test(the_innermost_of_nested_spans_is_found),
        cmocka_unit_test(of_equal_spans_the_deepest_is_found),
        cmocka_unit_test(random_overlaps_yield_a_span_that_holds_the_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
