/* SPDX-License-Identifier: MIT */
#include "base/containers/cursor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void integers_are_read_in_either_byte_order(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct cursor c = cursor_of(bytes, sizeof(bytes));
    assert_int_equal(cursor_u8(&c), 0x01);
    assert_int_equal(cursor_u16(&c), 0x0302);
    assert_int_equal(cursor_u32(&c), 0x07060504);
    assert_int_equal(cursor_u64(&c), UINT64_C(0x0f0e0d0c0b0a0908));
    assert_int_equal(cursor_left(&c), 0);
    c = cursor_of(bytes, sizeof(bytes));
    c.swapped = true;
    cursor_skip(&c, 1);
    assert_int_equal(cursor_u16(&c), 0x0203);
    assert_int_equal(cursor_u32(&c), 0x04050607);
    assert_int_equal(cursor_u64(&c), UINT64_C(0x08090a0b0c0d0e0f));
    assert_false(c.failed);
}

static void reading_past_the_end_gives_zero_fails_and_stays(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0xff, 0xff, 0xff};
    struct cursor c = cursor_of(bytes, sizeof(bytes));
    assert_int_equal(cursor_u32(&c), 0);
    assert_true(c.failed);
    assert_int_equal(cursor_u8(&c), 0); /* although three bytes were there */
    assert_int_equal(cursor_left(&c), 0);
}

static void sizes_from_a_file_cannot_wrap_around(void **state)
{
    (void)state;
    static const uint8_t bytes[16] = {0};
    struct cursor c = cursor_of(bytes, sizeof(bytes));
    cursor_skip(&c, 8);
    assert_null(cursor_bytes(&c, UINT64_MAX));
    assert_true(c.failed);
    c = cursor_of(bytes, sizeof(bytes));
    cursor_seek(&c, UINT64_C(1) << 63);
    assert_true(c.failed);
    c = cursor_of(bytes, sizeof(bytes));
    cursor_seek(&c, 16);
    assert_false(c.failed);
    struct cursor sub = cursor_sub(&c, 1);
    assert_true(sub.failed);
    assert_int_equal(sub.size, 0);
}

static void a_sub_cursor_ends_where_it_was_told(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3, 4};
    struct cursor c = cursor_of(bytes, sizeof(bytes));
    c.swapped = true;
    struct cursor sub = cursor_sub(&c, 2);
    assert_int_equal(cursor_u16(&sub), 0x0102);
    assert_int_equal(cursor_u8(&sub), 0);
    assert_true(sub.failed);
    assert_false(c.failed);
    assert_int_equal(cursor_u8(&c), 3);
}

static void strings_need_their_terminator(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {'a', 'b', 0, 'c', 'd'};
    struct cursor c = cursor_of(bytes, sizeof(bytes));
    assert_string_equal(cursor_string(&c), "ab");
    assert_null(cursor_string(&c));
    assert_true(c.failed);
    c = cursor_of(bytes, 0);
    assert_null(cursor_string(&c));
    c = cursor_of(NULL, 0); /* nothing is added to NULL, either */
    assert_null(cursor_string(&c));
}

/* The values are the examples of the DWARF standard. */
static void leb128_as_in_the_standard(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {2, 127, 0x80, 1, 0x81, 1, 0x39 + 0x80, 100};
    struct cursor c = cursor_of(bytes, sizeof(bytes));
    assert_int_equal(cursor_uleb128(&c), 2);
    assert_int_equal(cursor_uleb128(&c), 127);
    assert_int_equal(cursor_uleb128(&c), 128);
    assert_int_equal(cursor_uleb128(&c), 129);
    assert_int_equal(cursor_uleb128(&c), 12857);
    static const uint8_t negative[] = {2, 0x7e, 0xff, 0, 0x81, 0x7f, 0x80, 1, 0x80, 0x7f};
    c = cursor_of(negative, sizeof(negative));
    assert_int_equal(cursor_sleb128(&c), 2);
    assert_int_equal(cursor_sleb128(&c), -2);
    assert_int_equal(cursor_sleb128(&c), 127);
    assert_int_equal(cursor_sleb128(&c), -127);
    assert_int_equal(cursor_sleb128(&c), 128);
    assert_int_equal(cursor_sleb128(&c), -128);
    assert_false(c.failed);
}

static void leb128_of_more_than_64_bits_is_a_failure(void **state)
{
    (void)state;
    uint8_t most[10];
    memset(most, 0xff, 9);
    most[9] = 1; /* 9 * 7 + 1 bits */
    struct cursor c = cursor_of(most, sizeof(most));
    assert_int_equal(cursor_uleb128(&c), UINT64_MAX);
    assert_false(c.failed);
    most[9] = 2;
    c = cursor_of(most, sizeof(most));
    cursor_uleb128(&c);
    assert_true(c.failed);
    uint8_t padded[12]; /* 1, in a longer form than needed: legal */
    memset(padded, 0x80, 11);
    padded[0] = 0x81;
    padded[11] = 0;
    c = cursor_of(padded, sizeof(padded));
    assert_int_equal(cursor_uleb128(&c), 1);
    assert_false(c.failed);
    uint8_t endless[32];
    memset(endless, 0x80, sizeof(endless));
    c = cursor_of(endless, sizeof(endless));
    cursor_sleb128(&c);
    assert_true(c.failed);
}

/* 17 bytes, though the last one would end the number. */
static void padding_of_leb128_is_limited(void **state)
{
    (void)state;
    uint8_t padded[CURSOR_LEB128_BYTES_MAX + 1];
    memset(padded, 0x80, sizeof(padded));
    padded[0] = 0x81;
    padded[CURSOR_LEB128_BYTES_MAX - 1] = 0;
    struct cursor c = cursor_of(padded, sizeof(padded));
    assert_int_equal(cursor_uleb128(&c), 1);
    c.at = 0;
    assert_int_equal(cursor_sleb128(&c), 1);
    assert_int_equal(c.at, CURSOR_LEB128_BYTES_MAX);
    assert_false(c.failed);
    padded[CURSOR_LEB128_BYTES_MAX - 1] = 0x80;
    padded[CURSOR_LEB128_BYTES_MAX] = 0;
    c.at = 0;
    (void)cursor_uleb128(&c);
    assert_true(c.failed);
    c = cursor_of(padded, sizeof(padded));
    (void)cursor_sleb128(&c);
    assert_true(c.failed);
}

static void the_smallest_signed_leb128_is_read(void **state)
{
    (void)state;
    static const uint8_t smallest[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f};
    struct cursor c = cursor_of(smallest, sizeof(smallest));
    assert_true(cursor_sleb128(&c) == INT64_MIN);
    assert_false(c.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_read_in_either_byte_order),
        cmocka_unit_test(reading_past_the_end_gives_zero_fails_and_stays),
        cmocka_unit_test(sizes_from_a_file_cannot_wrap_around),
        cmocka_unit_test(a_sub_cursor_ends_where_it_was_told),
        cmocka_unit_test(strings_need_their_terminator),
        cmocka_unit_test(leb128_as_in_the_standard),
        cmocka_unit_test(leb128_of_more_than_64_bits_is_a_failure),
        cmocka_unit_test(padding_of_leb128_is_limited),
        cmocka_unit_test(the_smallest_signed_leb128_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
