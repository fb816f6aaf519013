/* SPDX-License-Identifier: MIT */
/*
 * The writer's side of a ring. The reader here is written from the picture in ring.h, not from the
 * launcher's: it starts at tail, takes what each header says, and passes over padding.
 */
#include "wire/ring.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GUARD 64 /* bytes behind the ring that nobody may touch */

struct fixture {
    struct ring_control control;
    uint8_t *data;
    struct ring ring;
    uint64_t written, lost;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    fixture->data = malloc(SESSION_RING_BYTES + GUARD);
    assert_non_null(fixture->data);
    memset(fixture->data, 0xa5, SESSION_RING_BYTES + GUARD);
    fixture->ring = (struct ring){.control = &fixture->control, .data = fixture->data};
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(fixture->data[SESSION_RING_BYTES + i], 0xa5);
    free(fixture->data);
    free(fixture);
    return 0;
}

/* Record number n: its payload and its ticks say so. */
static bool put(struct fixture *fixture, uint64_t n, uint32_t bytes)
{
    uint64_t position;
    uint8_t *place = ring_reserve(&fixture->ring, bytes, &position);
    if (!place) {
        fixture->lost++;
        return false;
    }
    memset(place, (int)(n % 251), bytes);
    struct record_header header = {.bytes = bytes, .kind = RECORD_STACK, .ticks = n};
    memcpy(place, &header, sizeof(header));
    ring_commit(&fixture->ring, position, bytes);
    fixture->written++;
    return true;
}

/* The next record's number; checks that it is whole. False: nothing there. */
static bool take(struct fixture *fixture, uint64_t *n)
{
    uint64_t head = load_acquire(&fixture->control.head);
    uint64_t tail = fixture->control.tail;
    while (tail != head) {
        struct record_header header = {0};
        uint64_t at = (tail - load_relaxed(&fixture->control.base)) % SESSION_RING_BYTES;
        const uint8_t *place = fixture->data + at;
        uint64_t to_end = SESSION_RING_BYTES - at;
        memcpy(&header, place, to_end < sizeof(header) ? (size_t)to_end : sizeof(header));
        assert_true(header.bytes <= to_end);
        assert_true(header.bytes <= head - tail);
        tail += header.bytes;
        if (header.kind == RECORD_PADDING) {
            assert_int_equal(header.bytes, to_end);
            continue;
        }
        assert_int_equal(header.kind, RECORD_STACK);
        for (uint32_t i = sizeof(header); i < header.bytes; i++)
            if (place[i] != header.ticks % 251)
                fail_msg("byte %u of record %lu", i, (unsigned long)header.ticks);
        *n = header.ticks;
        store_release(&fixture->control.tail, tail);
        return true;
    }
    store_release(&fixture->control.tail, tail);
    return false;
}

static void records_come_back_whole_and_in_order_over_many_laps(void **state)
{
    struct fixture *fixture = *state;
    uint64_t expected = 0;
    uint32_t random = 1;
    for (uint64_t n = 0; n < 20000; n++) {
        random = random * 1103515245 + 12345;
        uint32_t bytes = (uint32_t)sizeof(struct record_header) + (random >> 16) % 1024 * 8;
        while (!put(fixture, n, bytes)) {
            uint64_t got;
            assert_true(take(fixture, &got));
            assert_int_equal(got, expected);
            expected++;
        }
    }
    for (uint64_t got; take(fixture, &got); expected++)
        assert_int_equal(got, expected);
    assert_int_equal(expected, 20000);
    assert_true(fixture->control.head > 100 * SESSION_RING_BYTES);
}

/* Until there are so many bytes left before the end; then reads all but the last record. */
static void leave_before_end(struct fixture *fixture, uint64_t left)
{
    uint64_t first = fixture->written, got;
    while (fixture->control.head + 4096 <= SESSION_RING_BYTES - left - 32)
        assert_true(put(fixture, fixture->written, 4096));
    assert_true(put(fixture, fixture->written,
                    (uint32_t)(SESSION_RING_BYTES - left - fixture->control.head)));
    for (; first + 1 < fixture->written; first++)
        assert_true(take(fixture, &got));
}

static void padding_fills_the_end_when_a_record_does_not_fit_before_it(void **state)
{
    struct fixture *fixture = *state;
    leave_before_end(fixture, 8);
    assert_true(put(fixture, 7, 32));
    struct {
        uint32_t bytes;
        uint16_t event;
        uint8_t kind;
    } padding;
    memcpy(&padding, fixture->data + SESSION_RING_BYTES - 8, sizeof(padding));
    assert_int_equal(padding.bytes, 8);
    assert_int_equal(padding.kind, RECORD_PADDING);
    assert_int_equal(fixture->control.head, SESSION_RING_BYTES + 32);
    uint64_t got;
    assert_true(take(fixture, &got));
    assert_true(take(fixture, &got));
    assert_int_equal(got, 7);
}

static void a_record_that_ends_at_the_end_needs_no_padding(void **state)
{
    struct fixture *fixture = *state;
    leave_before_end(fixture, 32);
    assert_true(put(fixture, 1, 32));
    assert_int_equal(fixture->control.head, SESSION_RING_BYTES);
    assert_true(put(fixture, 2, 40));
    assert_int_equal(fixture->control.head, SESSION_RING_BYTES + 40);
    uint64_t got;
    assert_true(take(fixture, &got));
    assert_true(take(fixture, &got));
    assert_true(take(fixture, &got));
    assert_int_equal(got, 2);
}

/* Else a thread that is read often enough would still touch all of its ring, again and again. */
static void an_empty_ring_begins_again_at_its_first_byte(void **state)
{
    struct fixture *fixture = *state;
    for (uint64_t n = 0; n < 1000; n++) {
        uint64_t got;
        assert_true(put(fixture, n, 4096));
        assert_true(put(fixture, n, 4096));
        assert_true(take(fixture, &got));
        assert_true(take(fixture, &got));
    }
    for (uint64_t i = 8192; i < SESSION_RING_BYTES; i++)
        assert_int_equal(fixture->data[i], 0xa5);
}

static void a_full_ring_drops_the_newest_and_keeps_what_it_has(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t produced = 1000;
    const uint32_t bytes = 1024;
    for (uint64_t n = 0; n < produced; n++)
        put(fixture, n, bytes);
    assert_int_equal(fixture->written, SESSION_RING_BYTES / bytes);
    assert_int_equal(fixture->written + fixture->lost, produced);
    uint64_t read = 0;
    for (uint64_t got; take(fixture, &got); read++)
        assert_int_equal(got, read);
    assert_int_equal(read, fixture->written);
}

static void space_comes_back_when_the_reader_moves_on(void **state)
{
    struct fixture *fixture = *state;
    while (put(fixture, fixture->written, 4096))
        ;
    uint64_t got;
    assert_true(take(fixture, &got));
    assert_true(put(fixture, 1, 4096));
    assert_false(put(fixture, 2, 8));
}

static void padding_counts_as_used_space(void **state)
{
    struct fixture *fixture = *state;
    /* 1000 bytes before the end; all but 1032 bytes are taken. */
    fixture->ring.head = 2 * SESSION_RING_BYTES - 1000;
    fixture->control.tail = fixture->ring.head + 1032 - SESSION_RING_BYTES;
    assert_false(put(fixture, 1, 1008)); /* the 1000 at the end, then 1008 from the start */
    assert_true(put(fixture, 1, 1000));
}

static void what_is_not_committed_is_not_there(void **state)
{
    struct fixture *fixture = *state;
    uint64_t position, got;
    assert_non_null(ring_reserve(&fixture->ring, 512, &position));
    assert_false(take(fixture, &got));
    /* Reserved again: the same place, as if nothing had been. */
    assert_true(put(fixture, 3, 64));
    assert_true(take(fixture, &got));
    assert_int_equal(got, 3);
}

static void less_may_be_committed_than_was_reserved(void **state)
{
    struct fixture *fixture = *state;
    uint64_t position = 0, got;
    uint8_t *place = ring_reserve(&fixture->ring, 8192, &position);
    assert_non_null(place);
    struct record_header header = {.bytes = 24, .kind = RECORD_STACK, .ticks = 9};
    memcpy(place, &header, sizeof(header));
    ring_commit(&fixture->ring, position, 24);
    assert_int_equal(fixture->control.head, 24);
    assert_true(take(fixture, &got));
    assert_int_equal(got, 9);
}

/* The launcher wrote it, but any process of the recording could have. */
static void a_tail_that_makes_no_sense_only_loses_records(void **state)
{
    struct fixture *fixture = *state;
    static const uint64_t tails[] = {8, 4096, SESSION_RING_BYTES, UINT64_MAX - 7};
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        fixture->control.tail = tails[i];
        uint64_t position;
        const uint8_t *place = ring_reserve(&fixture->ring, 64, &position);
        /* UINT64_MAX - 7 is -8: eight bytes are unread. */
        if (tails[i] == UINT64_MAX - 7)
            assert_ptr_equal(place, fixture->data);
        else
            assert_null(place);
    }
}

/* Any process of the recording may write there at any time: the guard behind the ring stays as it
 * is, and so does the place of the next record. */
static void positions_that_another_process_overwrites_lead_nowhere(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t head = UINT64_C(8) << 20;
    uint64_t position = 0, written = 0;
    for (uint64_t back = 0; back < 64; back++) {
        fixture->control.head = head - back;
        fixture->control.base = head - (SESSION_RING_BYTES - 1) + back;
        fixture->control.tail = fixture->ring.head - 8; /* not empty: the base stays */
        uint8_t *place = ring_reserve(&fixture->ring, 48, &position);
        assert_ptr_equal(place, fixture->data + written);
        memset(place, 0, 48);
        ring_commit(&fixture->ring, position, 48);
        written += 48;
        assert_int_equal(fixture->control.head, written);
    }
}

static void whatever_the_positions_are_a_place_is_a_multiple_of_8_inside_of_the_ring(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0, 1, 7, 8, SESSION_RING_BYTES - 1, SESSION_RING_BYTES, UINT64_C(1) << 63, UINT64_MAX};
    const size_t count = sizeof(values) / sizeof(values[0]);
    for (size_t i = 0; i < count * count; i++) {
        uint64_t place = ring_place(values[i / count], values[i % count]);
        assert_int_equal(place % 8, 0);
        assert_true(place <= SESSION_RING_BYTES - 8);
    }
}

#define CONCURRENT 200000

static void *produce(void *argument)
{
    struct fixture *fixture = argument;
    for (uint64_t n = 0; n < CONCURRENT; n++)
        while (!put(fixture, n, (uint32_t)(24 + n % 61 * 8)))
            sched_yield();
    return NULL;
}

static void a_reader_on_another_processor_never_sees_half_a_record(void **state)
{
    struct fixture *fixture = *state;
    pthread_t producer;
    assert_int_equal(pthread_create(&producer, NULL, produce, fixture), 0);
    for (uint64_t expected = 0; expected < CONCURRENT;) {
        uint64_t got;
        if (!take(fixture, &got)) {
            sched_yield();
            continue;
        }
        assert_int_equal(got, expected);
        expected++;
    }
    pthread_join(producer, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_come_back_whole_and_in_order_over_many_laps, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(padding_fills_the_end_when_a_record_does_not_fit_before_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_record_that_ends_at_the_end_needs_no_padding, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_empty_ring_begins_again_at_its_first_byte, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_full_ring_drops_the_newest_and_keeps_what_it_has, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(space_comes_back_when_the_reader_moves_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(padding_counts_as_used_space, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_committed_is_not_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(less_may_be_committed_than_was_reserved, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tail_that_makes_no_sense_only_loses_records, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(positions_that_another_process_overwrites_lead_nowhere,
                                        set_up, tear_down),
        cmocka_unit_test(whatever_the_positions_are_a_place_is_a_multiple_of_8_inside_of_the_ring),
        cmocka_unit_test_setup_teardown(a_reader_on_another_processor_never_sees_half_a_record,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
