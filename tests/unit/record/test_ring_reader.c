/* SPDX-License-Identifier: MIT */
/* One ring in ordinary memory: each committed record reaches the callback once, hostile bytes never do. */
#include "record/sample/ring_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct {
    struct ring_control control;
    struct ring ring;
    struct ring_reader reader;
    uint8_t *scratch;
    uint64_t taken;      /* records */
    uint64_t last_ticks; /* of the last record */
} at;

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    at.ring = (struct ring){.control = &at.control, .data = calloc(1, SESSION_RING_BYTES)};
    at.scratch = malloc(SESSION_RING_BYTES);
    return at.ring.data && at.scratch ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(at.ring.data);
    free(at.scratch);
    return 0;
}

static void take(void *context, const struct record_header *header, const uint8_t *record)
{
    assert_ptr_equal(context, &at);
    assert_memory_equal(header, record, sizeof(*header));
    assert_int_equal((uintptr_t)record % 8, 0);
    at.taken++;
    at.last_ticks = header->ticks;
}

static struct ring_read drain(void)
{
    const struct ring_target target = {at.scratch, take, &at};
    struct ring_read read = ring_read(&at.reader, &at.ring, UINT64_MAX, &target);
    assert_int_equal(at.control.tail, at.control.head); /* all space is returned */
    return read;
}

static void put(uint32_t bytes, uint64_t ticks)
{
    uint64_t position = 0;
    uint8_t *place = ring_reserve(&at.ring, bytes, &position);
    assert_non_null(place);
    const struct record_header header = {.bytes = bytes, .kind = RECORD_STACK, .ticks = ticks};
    memcpy(place, &header, sizeof(header));
    ring_commit(&at.ring, position, bytes);
}

static void records_arrive_in_order_over_many_laps(void **state)
{
    (void)state;
    uint64_t ticks = 0;
    for (int round = 0; round < 2000; round++) {
        for (uint32_t i = 0; i < 8; i++) {
            put(24 + 8 * ((uint32_t)round * 13 % 500), ++ticks);
        }
        struct ring_read read = drain();
        assert_int_equal(read.damaged, 0);
        assert_true(read.bytes > 0);
        assert_int_equal(at.last_ticks, ticks);
    }
    assert_int_equal(at.taken, ticks);
}

static void lengths_that_cannot_be_end_the_round(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 4, 8, 16, 20, 72, 1u << 20, UINT32_MAX};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint64_t taken = at.taken;
        put(32, 1);
        put(32, 2);
        struct record_header *first =
            (struct record_header *)(void *)(at.ring.data +
                                             ring_place(at.control.base, at.reader.tail));
        first->bytes = lengths[i];
        assert_int_equal(drain().damaged, 1);
        assert_int_equal(at.taken, taken);
        put(32, 3);
        assert_int_equal(drain().damaged, 0); /* the next records pass */
        assert_int_equal(at.taken, taken + 1);
    }
}

static void heads_that_cannot_be_are_skipped_to(void **state)
{
    (void)state;
    static const uint64_t heads[] = {SESSION_RING_BYTES + 8, UINT64_C(1) << 40, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        at.reader.tail = at.control.tail = 0;
        at.control.head = heads[i];
        struct ring_read read = drain();
        assert_int_equal(read.damaged, 1);
        assert_int_equal(read.bytes, 0);
    }
    assert_int_equal(at.taken, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(records_arrive_in_order_over_many_laps),
        TEST(lengths_that_cannot_be_end_the_round),
        TEST(heads_that_cannot_be_are_skipped_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
