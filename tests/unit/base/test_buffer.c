/* SPDX-License-Identifier: MIT */
#include "base/containers/array.h"
#include "base/containers/buffer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void integers_are_little_endian_on_every_host(void **state)
{
    (void)state;
    static const uint8_t expected[] = {
        0x11, 0x33, 0x22, 0x77, 0x66, 0x55, 0x44, 0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88,
    };
    struct buffer buffer = {0};
    buffer_u8(&buffer, 0x11);
    buffer_u16(&buffer, 0x2233);
    buffer_u32(&buffer, 0x44556677);
    buffer_u64(&buffer, UINT64_C(0x8899aabbccddeeff));
    assert_int_equal(buffer.size, sizeof(expected));
    assert_memory_equal(buffer.bytes, expected, sizeof(expected));
    buffer_free(&buffer);
}

static void many_integers_are_written_as_each_of_them(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, UINT64_C(0x8899aabbccddeeff), 1, UINT64_MAX};
    struct buffer one = {0}, all = {0};
    buffer_u8(&one, 7);
    buffer_u8(&all, 7);
    for (size_t i = 0; i < 4; i++)
        buffer_u64(&one, values[i]);
    buffer_u64s(&all, values, 4);
    buffer_u64s(&all, values, 0);
    assert_int_equal(all.size, 33);
    assert_memory_equal(all.bytes, one.bytes, 33);
    buffer_u64s(&all, values, SIZE_MAX / 4);
    assert_true(all.failed);
    buffer_free(&one);
    buffer_free(&all);
}

static void printf_adds_the_text_without_its_terminator(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    buffer_text(&buffer, "a=");
    buffer_printf(&buffer, "%d,%s", 42, "x");
    buffer_printf(&buffer, "%s", "");
    buffer_u8(&buffer, '!');
    assert_int_equal(buffer.size, 7);
    assert_memory_equal(buffer.bytes, "a=42,x!", 7);
    buffer_free(&buffer);
}

static void content_survives_growth(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    for (uint32_t i = 0; i < 10000; i++)
        buffer_u32(&buffer, i);
    assert_int_equal(buffer.size, 40000);
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t value = buffer.bytes[4 * i] | (uint32_t)buffer.bytes[4 * i + 1] << 8;
        assert_int_equal(value, i);
    }
    buffer_free(&buffer);
}

static void failure_is_sticky_until_cleared(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    buffer_text(&buffer, "ab");
    buffer_zeros(&buffer, SIZE_MAX - 1); /* the sum overflows: no memory is even asked for */
    assert_true(buffer.failed);
    buffer_text(&buffer, "cd");
    assert_int_equal(buffer.size, 2);
    buffer_clear(&buffer);
    assert_false(buffer.failed);
    buffer_text(&buffer, "cd");
    assert_memory_equal(buffer.bytes, "cd", 2);
    buffer_free(&buffer);
}

static void array_elements_start_zeroed_and_keep_their_place(void **state)
{
    (void)state;
    struct thing {
        uint64_t id;
        char tag;
    } *things = NULL;
    size_t count = 0, capacity = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        struct thing *thing = ARRAY_PUSH(things, count, capacity);
        assert_non_null(thing);
        assert_int_equal(thing->id, 0);
        assert_int_equal(thing->tag, 0);
        *thing = (struct thing){.id = i, .tag = 'x'};
    }
    assert_int_equal(count, 1000);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(things[i].id, i);
    free(things);
}

static void array_refuses_sizes_that_overflow(void **state)
{
    (void)state;
    void *items = NULL;
    size_t capacity = 0;
    assert_int_equal(array_reserve(&items, &capacity, SIZE_MAX, 1), -ENOMEM);
    assert_int_equal(array_reserve(&items, &capacity, SIZE_MAX / 8, 64), -ENOMEM);
    assert_null(items);
    assert_int_equal(capacity, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_little_endian_on_every_host),
        cmocka_unit_test(many_integers_are_written_as_each_of_them),
        cmocka_unit_test(printf_adds_the_text_without_its_terminator),
        cmocka_unit_test(content_survives_growth),
        cmocka_unit_test(failure_is_sticky_until_cleared),
        cmocka_unit_test(array_elements_start_zeroed_and_keep_their_place),
        cmocka_unit_test(array_refuses_sizes_that_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
