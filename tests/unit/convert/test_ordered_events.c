/* SPDX-License-Identifier: MIT */
#include "convert/load/ordered_events.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct perfdata_record mark = {.ends_round = true};

struct seen {
    uint64_t last_ns;
    uint32_t last_number;
    size_t count;
};

/* The record's type is the number of the record in the file. */
static int see(void *context, const struct ordered_record *record)
{
    struct seen *seen = context;
    uint64_t time_ns = record->record.time_ns;
    assert_true(time_ns >= seen->last_ns);
    if (time_ns == seen->last_ns)
        assert_true(record->record.type > seen->last_number);
    seen->last_ns = time_ns;
    seen->last_number = record->record.type;
    seen->count++;
    return 0;
}

/* As a recorder with late rings writes: records of a round are younger than all records drained
 * before the last mark. */
static void rounds_come_out_in_the_order_of_time(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct ordered_events events = {.handle = see, .context = &seen};
    uint32_t number = 0;
    size_t held_most = 0;
    srandom(1);
    for (uint64_t round = 0; round < 100; round++) {
        for (int i = 0; i < 20; i++) {
            uint64_t base = round * 50;
            struct perfdata_record record = {.type = ++number,
                                             .time_ns = base + (uint64_t)random() % 90 + 1};
            assert_int_equal(ordered_events_add(&events, &record, record.time_ns + 2), 0);
        }
        held_most = events.count > held_most ? events.count : held_most;
        assert_int_equal(ordered_events_add(&events, &mark, 0), 0);
    }
    assert_int_equal(ordered_events_finish(&events), 0);
    assert_int_equal(seen.count, number);
    assert_true(held_most <= 80);
    ordered_events_free(&events);
}

static int check_bytes(void *context, const struct ordered_record *record)
{
    ++*(uint64_t *)context;
    assert_int_equal(record->callchain_hash, record->record.time_ns + 2);
    for (size_t i = 0; i < record->record.body_bytes; i++)
        assert_int_equal(record->record.body[i], (uint8_t)record->record.time_ns);
    return 0;
}

/* Several blocks of copies, with a record as large as records get, and with empty records. */
static void bytes_of_records_are_kept(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    uint64_t seen = 0;
    struct ordered_events events = {.handle = check_bytes, .context = &seen};
    static uint8_t body[UINT16_MAX];
    for (uint64_t i = COUNT; i > 0; i--) {
        size_t bytes = i % 10 == 0 ? sizeof(body) : i % 3 * 100;
        memset(body, (int)i, sizeof(body));
        struct perfdata_record record = {.time_ns = i, .body = body, .body_bytes = (uint32_t)bytes};
        assert_int_equal(ordered_events_add(&events, &record, record.time_ns + 2), 0);
        if (i % 50 == 0)
            assert_int_equal(ordered_events_add(&events, &mark, 0), 0);
    }
    assert_int_equal(ordered_events_finish(&events), 0);
    assert_int_equal(seen, COUNT);
    ordered_events_free(&events);
}

static int refuse(void *context, const struct ordered_record *record)
{
    (void)record;
    ++*(int *)context;
    return -ENOMEM;
}

static void an_error_ends_the_handing_out(void **state)
{
    (void)state;
    int calls = 0;
    struct ordered_events events = {.handle = refuse, .context = &calls};
    ordered_events_add(&events, &(struct perfdata_record){.time_ns = 2}, 0);
    ordered_events_add(&events, &(struct perfdata_record){.time_ns = 1}, 0);
    assert_int_equal(ordered_events_finish(&events), -ENOMEM);
    assert_int_equal(calls, 1);
    ordered_events_free(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_come_out_in_the_order_of_time),
        cmocka_unit_test(bytes_of_records_are_kept),
        cmocka_unit_test(an_error_ends_the_handing_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
