/* SPDX-License-Identifier: MIT */
/* Records wait in order, with copies of what they point to. */
#include "record/perf_ring/ring_backlog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { REGISTERS = 17, STACK_BYTES = 4096, ROUNDS = 5000 };

/* In one place, which the next record of a ring overwrites. */
static uint64_t kernel_frames[2], registers[REGISTERS];
static uint8_t stack[STACK_BYTES];
static char text[32];

static struct ring_record made(uint64_t number)
{
    kernel_frames[1] = registers[REGISTERS - 1] = number;
    memset(stack, (int)number, sizeof(stack));
    snprintf(text, sizeof(text), "name %d", (int)number);
    return (struct ring_record){.time_ns = number,
                                .kernel_frames = kernel_frames,
                                .kernel_count = number % 3,
                                .registers = registers,
                                .stack = stack,
                                .stack_bytes = number * 7 % STACK_BYTES,
                                .text = number % 2 ? text : NULL};
}

static void check(const struct ring_record *record, uint64_t number)
{
    assert_int_equal(record->time_ns, number);
    assert_int_equal(record->kernel_count, number % 3);
    assert_int_equal(record->registers[REGISTERS - 1], number);
    assert_int_equal((uintptr_t)record->registers % 8, 0);
    if (record->kernel_count == 2)
        assert_int_equal(record->kernel_frames[1], number);
    for (size_t i = 0; i < record->stack_bytes; i++)
        assert_int_equal(record->stack[i], (uint8_t)number);
    char name[32];
    snprintf(name, sizeof(name), "name %d", (int)number);
    if (number % 2)
        assert_string_equal(record->text, name);
    else
        assert_null(record->text);
}

/* Two in, one out, then the rest. */
static void records_leave_whole_in_the_order_of_their_arrival(void **state)
{
    (void)state;
    struct ring_backlog backlog = {.count = 0};
    struct ring_record record;
    uint64_t added = 0, taken = 0;
    assert_false(ring_backlog_next(&backlog, &record));
    for (; added < ROUNDS; added++) {
        record = made(added);
        assert_true(ring_backlog_add(&backlog, &record));
        if (added % 2 == 0)
            continue;
        assert_true(ring_backlog_next(&backlog, &record));
        check(&record, taken++);
    }
    while (ring_backlog_next(&backlog, &record))
        check(&record, taken++);
    assert_int_equal(taken, ROUNDS);
    ring_backlog_free(&backlog);
}

static void a_record_without_parts_needs_none(void **state)
{
    (void)state;
    struct ring_backlog backlog = {.count = 0};
    struct ring_record record = {.type = PERF_RECORD_LOST, .lost = 3};
    assert_true(ring_backlog_add(&backlog, &record));
    memset(&record, 1, sizeof(record));
    assert_true(ring_backlog_next(&backlog, &record));
    assert_int_equal(record.lost, 3);
    assert_null(record.stack);
    assert_null(record.registers);
    assert_false(ring_backlog_next(&backlog, &record));
    ring_backlog_free(&backlog);
}

static void a_full_backlog_leaves_records_in_the_ring(void **state)
{
    (void)state;
    struct ring_backlog backlog = {.count = 0};
    struct ring_record record = made(1);
    record.stack = NULL;
    record.stack_bytes = 0;
    size_t count = 0;
    while (count < 10000000 && ring_backlog_add(&backlog, &record))
        count++;
    assert_true(count > 1000 && count < 10000000);
    while (ring_backlog_next(&backlog, &record))
        count--;
    assert_int_equal(count, 0);
    record = made(2);
    assert_true(ring_backlog_add(&backlog, &record));
    ring_backlog_free(&backlog);
}

static void starts_of_processes_are_found_among_the_records(void **state)
{
    (void)state;
    struct ring_backlog backlog = {.count = 0};
    struct ring_record record = made(5);
    assert_true(ring_backlog_add(&backlog, &record));
    record = (struct ring_record){.type = PERF_RECORD_FORK, .pid = 7, .tid = 8, .parent_pid = 7};
    assert_true(ring_backlog_add(&backlog, &record));
    assert_false(ring_backlog_has_start(&backlog, 7)); /* of a thread */
    record = (struct ring_record){.type = PERF_RECORD_FORK, .pid = 9, .tid = 9, .parent_pid = 7};
    assert_true(ring_backlog_add(&backlog, &record));
    assert_true(ring_backlog_has_start(&backlog, 9));
    assert_false(ring_backlog_has_start(&backlog, 8));
    assert_true(ring_backlog_next(&backlog, &record));
    check(&record, 5);
    assert_true(ring_backlog_next(&backlog, &record));
    assert_true(ring_backlog_has_start(&backlog, 9));
    assert_true(ring_backlog_next(&backlog, &record));
    assert_false(ring_backlog_has_start(&backlog, 9));
    ring_backlog_free(&backlog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_leave_whole_in_the_order_of_their_arrival),
        cmocka_unit_test(a_record_without_parts_needs_none),
        cmocka_unit_test(a_full_backlog_leaves_records_in_the_ring),
        cmocka_unit_test(starts_of_processes_are_found_among_the_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
