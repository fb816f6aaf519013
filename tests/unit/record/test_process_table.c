/* SPDX-License-Identifier: MIT */
/* Processes are found by pid whatever shares their bucket, and slots are used again. */
#include "record/process/process_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct process_table *table;

static int set_up(void **state)
{
    (void)state;
    table = calloc(1, sizeof(*table));
    return table ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    process_table_free(table);
    free(table);
    return 0;
}

static struct process *add(pid_t pid)
{
    const struct process process = {.pid = pid, .pid_fd = -1, .start_ns = 100};
    return process_table_add(table, &process);
}

static void remove_slot(uint32_t slot)
{
    for (size_t i = table->live_count; i-- > 0;)
        if (table->live[i] == slot)
            process_table_remove(table, i, 0);
}

static void pids_of_one_bucket_are_told_apart(void **state)
{
    (void)state;
    struct process *first = add(7), *second = add(7 + PID_BUCKETS);
    struct process *third = add(7 + 2 * PID_BUCKETS);
    assert_ptr_equal(process_find(table, 7), first);
    assert_ptr_equal(process_find(table, 7 + PID_BUCKETS), second);
    assert_ptr_equal(process_find(table, 7 + 2 * PID_BUCKETS), third);
    assert_null(process_find(table, 7 + 3 * PID_BUCKETS));
    remove_slot(second->slot); /* from the middle of the chain */
    assert_null(process_find(table, 7 + PID_BUCKETS));
    assert_ptr_equal(process_find(table, 7), first);
    assert_ptr_equal(process_find(table, 7 + 2 * PID_BUCKETS), third);
}

static void after_exec_a_pid_leads_to_the_new_program(void **state)
{
    (void)state;
    struct process *before = add(99);
    before->has_ended = true;
    assert_null(process_find(table, 99));
    struct process *after = add(99);
    assert_ptr_equal(process_find(table, 99), after);
    remove_slot(before->slot);
    assert_ptr_equal(process_find(table, 99), after);
}

static void every_slot_can_be_used_again(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < SESSION_PROCESSES; i++)
            assert_non_null(add((pid_t)(1000 + 37 * i + round)));
        assert_null(add(1));
        assert_int_equal(table->live_count, SESSION_PROCESSES);
        for (uint32_t i = 0; i < SESSION_PROCESSES; i++) {
            const struct process *process = process_find(table, (pid_t)(1000 + 37 * i + round));
            assert_non_null(process);
        }
        for (uint32_t i = 0; i < SESSION_PROCESSES; i++)
            remove_slot((i * 7 + 3) % SESSION_PROCESSES);
        assert_int_equal(table->live_count, 0);
    }
}

static void a_reused_pid_starts_behind_the_end_of_the_first_process(void **state)
{
    (void)state;
    process_table_note_end(table, 42, 5000);
    assert_int_equal(process_table_after_end_ns(table, 42, 4000), 5001);
    assert_int_equal(process_table_after_end_ns(table, 42, 6000), 6000);
    assert_int_equal(process_table_after_end_ns(table, 43, 4000), 4000);
    for (int i = 0; i < LAST_ENDS; i++)
        process_table_note_end(table, 1000 + i, 9000);
    assert_int_equal(process_table_after_end_ns(table, 42, 4000), 4000); /* long ago */
}

static void a_process_ends_when_its_end_was_seen_but_never_before_its_start(void **state)
{
    (void)state;
    struct process *process = add(7);
    assert_int_equal(process_end_ns(process, 300), 300);
    process->gone_ns = 200;
    assert_int_equal(process_end_ns(process, 300), 200);
    process->gone_ns = 50;
    assert_int_equal(process_end_ns(process, 300), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(pids_of_one_bucket_are_told_apart),
        TEST(after_exec_a_pid_leads_to_the_new_program),
        TEST(every_slot_can_be_used_again),
        TEST(a_reused_pid_starts_behind_the_end_of_the_first_process),
        TEST(a_process_ends_when_its_end_was_seen_but_never_before_its_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
