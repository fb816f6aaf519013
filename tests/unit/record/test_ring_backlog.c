/* SPDX-License-Identifier: MIT */
/* Records wait in the order of time, with copies of the memory that they point to. */
#include "record/perf_ring/rings/ring_backlog.h"

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

static struct ring_backlog opened(size_t rings)
{
    struct ring_backlog backlog;
    assert_int_equal(ring_backlog_open(&backlog, rings), 0);
    return backlog;
}

/* Two in, one out, then the rest. */
static void records_leave_whole_in_the_order_of_their_arrival(void **state)
{
    (void)state;
    struct ring_backlog backlog = opened(1);
    uint64_t added = 0, taken = 0;
    assert_null(ring_backlog_next(&backlog, UINT64_MAX));
    for (; added < ROUNDS; added++) {
        struct ring_record record = made(added);
        assert_true(ring_backlog_add(&backlog, 0, &record));
        if (added % 2 == 0)
            continue;
        check(ring_backlog_next(&backlog, UINT64_MAX), taken++);
    }
    const struct ring_record *next;
    while ((next = ring_backlog_next(&backlog, UINT64_MAX)))
        check(next, taken++);
    assert_int_equal(taken, ROUNDS);
    assert_int_equal(backlog.bytes, 0);
    ring_backlog_free(&backlog);
}

static void a_taken_record_stays_whole_while_others_are_added(void **state)
{
    (void)state;
    struct ring_backlog backlog = opened(1);
    struct ring_record record = made(STACK_BYTES - 1);
    assert_true(ring_backlog_add(&backlog, 0, &record));
    const struct ring_record *taken = ring_backlog_next(&backlog, UINT64_MAX);
    assert_int_equal(backlog.count, 0);
    for (uint64_t i = STACK_BYTES; i < STACK_BYTES + ROUNDS; i++) {
        record = made(i);
        assert_true(ring_backlog_add(&backlog, 0, &record));
    }
    check(taken, STACK_BYTES - 1);
    check(ring_backlog_next(&backlog, UINT64_MAX), STACK_BYTES);
    ring_backlog_free(&backlog);
}

/* Three rings with records of the times 0, 3, 6 …, 1, 4, 7 … and 2, 5, 8 … */
static void the_oldest_record_of_all_rings_is_next(void **state)
{
    (void)state;
    enum { RINGS = 3, RECORDS = 999 };
    struct ring_backlog backlog = opened(RINGS);
    for (uint64_t ring = 0; ring < RINGS; ring++) {
        for (uint64_t time = ring; time < RECORDS; time += RINGS) {
            struct ring_record record = made(time);
            assert_true(ring_backlog_add(&backlog, ring, &record));
        }
    }
    for (uint64_t time = 0; time < RECORDS; time++) {
        if (time > 0)
            assert_null(ring_backlog_next(&backlog, time - 1));
        check(ring_backlog_next(&backlog, time), time);
    }
    assert_null(ring_backlog_next(&backlog, UINT64_MAX));
    ring_backlog_free(&backlog);
}

static void a_record_without_parts_needs_none(void **state)
{
    (void)state;
    struct ring_backlog backlog = opened(1);
    struct ring_record record = {.type = PERF_RECORD_LOST, .lost = 3};
    assert_true(ring_backlog_add(&backlog, 0, &record));
    const struct ring_record *next = ring_backlog_next(&backlog, UINT64_MAX);
    assert_int_equal(next->lost, 3);
    assert_null(next->stack);
    assert_null(next->registers);
    assert_null(ring_backlog_next(&backlog, UINT64_MAX));
    ring_backlog_free(&backlog);
}

static void a_full_backlog_leaves_records_in_the_ring(void **state)
{
    (void)state;
    struct ring_backlog backlog = opened(2);
    struct ring_record record = made(STACK_BYTES - 1);
    size_t count = 0;
    while (count < 10000000 && ring_backlog_add(&backlog, count % 2, &record))
        count++;
    assert_true(count > 1000 && count < 10000000);
    assert_true(backlog.bytes <= UINT64_C(256) << 20);
    for (int i = 0; i < 1000000; i++) /* no search: 256 MiB a million times */
        assert_false(ring_backlog_has_start(&backlog, 1 + i));
    while (ring_backlog_next(&backlog, UINT64_MAX))
        count--;
    assert_int_equal(count, 0);
    record = made(2);
    assert_true(ring_backlog_add(&backlog, 0, &record));
    ring_backlog_free(&backlog);
}

static void add_start(struct ring_backlog *backlog, uint32_t pid, uint32_t tid)
{
    const struct ring_record record = {
        .type = PERF_RECORD_FORK, .time_ns = 6, .pid = pid, .tid = tid, .parent_pid = 7};
    assert_true(ring_backlog_add(backlog, 0, &record));
}

static void starts_of_processes_are_found_among_the_records(void **state)
{
    (void)state;
    struct ring_backlog backlog = opened(2);
    struct ring_record record = made(5);
    assert_false(ring_backlog_has_start(&backlog, 7));
    assert_true(ring_backlog_add(&backlog, 0, &record));
    add_start(&backlog, 7, 8);
    assert_false(ring_backlog_has_start(&backlog, 7)); /* of a thread */
    add_start(&backlog, 9, 9);
    assert_true(ring_backlog_has_start(&backlog, 9));
    assert_false(ring_backlog_has_start(&backlog, 8));
    check(ring_backlog_next(&backlog, UINT64_MAX), 5);
    assert_non_null(ring_backlog_next(&backlog, UINT64_MAX));
    assert_true(ring_backlog_has_start(&backlog, 9));
    assert_non_null(ring_backlog_next(&backlog, UINT64_MAX));
    assert_false(ring_backlog_has_start(&backlog, 9)); /* taken */
    add_start(&backlog, 9, 9);                         /* the id is in use again */
    add_start(&backlog, 9, 9);
    assert_non_null(ring_backlog_next(&backlog, UINT64_MAX));
    assert_true(ring_backlog_has_start(&backlog, 9));
    assert_non_null(ring_backlog_next(&backlog, UINT64_MAX));
    assert_false(ring_backlog_has_start(&backlog, 9));
    assert_null(ring_backlog_next(&backlog, UINT64_MAX));
    ring_backlog_free(&backlog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_leave_whole_in_the_order_of_their_arrival),
        cmocka_unit_test(a_taken_record_stays_whole_while_others_are_added),
        cmocka_unit_test(the_oldest_record_of_all_rings_is_next),
        cmocka_unit_test(a_record_without_parts_needs_none),
        cmocka_unit_test(a_full_backlog_leaves_records_in_the_ring),
        cmocka_unit_test(starts_of_processes_are_found_among_the_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
