/* SPDX-License-Identifier: MIT */
/* Rules are packed into 32 bits: every value that fits comes back, and disturbs no other. */
#include "wire/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint32_t some_fp[] = {ROW_FP_SAME, 1, 2, 127, 254, ROW_FP_AT_FP};

static void unsigned_offsets_come_back(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {0, 1, 2, 1023, 1024, ROW_OFFSET_MAX - 1, ROW_OFFSET_MAX};
    for (uint32_t kind = ROW_NONE; kind <= ROW_COMPLEX; kind++)
        for (size_t f = 0; f < sizeof(some_fp) / sizeof(some_fp[0]); f++)
            for (size_t n = 0; n < sizeof(offsets) / sizeof(offsets[0]); n++) {
                uint32_t rule = row_rule((enum row_kind)kind, some_fp[f], offsets[n]);
                assert_int_equal(row_kind(rule), kind);
                assert_int_equal(row_fp(rule), some_fp[f]);
                assert_int_equal(row_n(rule), offsets[n]);
            }
}

static void signed_offsets_come_back(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof(some_fp) / sizeof(some_fp[0]); f++)
        for (int32_t n = -512; n < 512; n++) {
            int32_t m = n * 7 % 512; /* any other value of the range */
            uint32_t rule = row_rule_deref(ROW_FP_DEREF, some_fp[f], n, m);
            assert_int_equal(row_kind(rule), ROW_FP_DEREF);
            assert_int_equal(row_fp(rule), some_fp[f]);
            assert_int_equal(row_deref_n(rule), n);
            assert_int_equal(row_deref_m(rule), m);
        }
}

static void registers_and_their_offsets_come_back(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {0, 1, 255, 256, ROW_REGISTER_OFFSET_MAX};
    for (uint32_t reg = 0; reg < 16; reg++)
        for (size_t n = 0; n < sizeof(offsets) / sizeof(offsets[0]); n++) {
            uint32_t rule = row_rule_register(ROW_FP_AT_FP, reg, offsets[n]);
            assert_int_equal(row_kind(rule), ROW_REGISTER);
            assert_int_equal(row_fp(rule), ROW_FP_AT_FP);
            assert_int_equal(row_register(rule), reg);
            assert_int_equal(row_register_n(rule), offsets[n]);
        }
}

/* Written down once from the picture in rows.h: both sides of a recording must agree. */
static void the_bits_are_where_the_picture_says(void **state)
{
    (void)state;
    assert_int_equal(row_rule(ROW_SP, 3, 5), 0x00005031);
    assert_int_equal(row_rule(ROW_FP, ROW_FP_AT_FP, ROW_OFFSET_MAX), 0xfffffff2);
    assert_int_equal(row_rule_deref(ROW_SP_DEREF, 0, 1, -1), 0xffc01003);
    assert_int_equal(row_rule_deref(ROW_FP_DEREF, 2, -1, 1), 0x007ff024);
    assert_int_equal(row_rule_register(ROW_FP_SAME, 15, 3), 0xf0003009);
    assert_int_equal(row_rule_clone(2, 15, 3), 0xf000302a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsigned_offsets_come_back),
        cmocka_unit_test(signed_offsets_come_back),
        cmocka_unit_test(registers_and_their_offsets_come_back),
        cmocka_unit_test(the_bits_are_where_the_picture_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
