/* SPDX-License-Identifier: MIT */
/* The accounts that ended threads have noted: the kernel's copies are gone. */
#include "record/off_cpu/records/off_records.h"
#include "record/off_cpu/waits/off_windows.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
enum { PID = 100, TID = 101 };

struct world {
    struct off_tasks tasks;
    struct off_queue queue;
    struct off_waits waits;
    struct off_records records;
};

/* Of a process that the parent has not seen yet, with two turns more and 20 ms in run queues. */
static int end_account(pid_t pid, pid_t tid, struct run_account *account)
{
    (void)pid;
    (void)tid;
    *account = (struct run_account){.cpu_ns = 2 * MS, .delay_ns = 34 * MS, .turns = 6};
    return 0;
}

static int no_account(pid_t pid, pid_t tid, struct run_account *account)
{
    (void)pid;
    (void)tid;
    (void)account;
    return -ESRCH;
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    off_queue_open(&world->queue);
    world->waits =
        (struct off_waits){.samples = {.ticks = {10 * MS, 42, 256}, .queue = &world->queue},
                           .read_account = no_account};
    world->waits.notes.notes = calloc(SESSION_ACCOUNTS, sizeof(struct account_note));
    world->records = (struct off_records){
        .tasks = &world->tasks, .waits = &world->waits, .reach = REACH_CHILDREN};
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    off_waits_begin_tick(&world->waits);
    while (off_waits_next(&world->waits))
        continue;
    off_tasks_free(&world->tasks);
    off_queue_close(&world->queue);
    free(world->waits.notes.notes);
    free(world);
    return 0;
}

static void take(struct world *world, uint32_t type, uint16_t misc, uint64_t time_ns)
{
    const struct ring_record record = {.type = type,
                                       .misc = misc,
                                       .pid = PID,
                                       .tid = TID,
                                       .parent_pid = PID,
                                       .parent_tid = PID,
                                       .time_ns = time_ns};
    off_records_take(&world->records, &record);
}

static void in(struct world *world, uint64_t time_ns)
{
    take(world, PERF_RECORD_SWITCH, 0, time_ns);
}

static void out(struct world *world, uint64_t time_ns)
{
    take(world, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, time_ns);
}

static void preempt(struct world *world, uint64_t time_ns)
{
    take(world, PERF_RECORD_SWITCH,
         PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, time_ns);
}

static void start(struct world *world, uint64_t time_ns)
{
    take(world, PERF_RECORD_FORK, 0, time_ns);
    in(world, time_ns);
}

static struct account_note *note(struct world *world, uint64_t delay_ns, uint64_t turns)
{
    struct account_note *note = &world->waits.notes.notes[TID % SESSION_ACCOUNTS];
    *note = (struct account_note){.tid = TID, .time_ns = 1000 * MS};
    snprintf(note->text, sizeof(note->text), "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", MS, delay_ns,
             turns);
    return note;
}

static void assert_sums(struct world *world, uint64_t waiting_ns, uint64_t runnable_ns)
{
    assert_int_equal(world->waits.samples.sums.runnable_ns, runnable_ns);
    assert_int_equal(world->waits.samples.sums.waiting_ns, waiting_ns);
}

/* Short waits, which are written at the end, and a long one, which is written with its last record. */
static void the_last_wake_up_of_a_short_wait_is_no_wait(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    in(world, 1006 * MS);
    note(world, 4 * MS, 2);
    take(world, PERF_RECORD_EXIT, 0, 1007 * MS);
    assert_sums(world, MS, 4 * MS);
}

static void the_last_wake_up_of_a_long_wait_is_no_wait(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    note(world, 30 * MS, 2);
    in(world, 1205 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1206 * MS);
    assert_sums(world, 174 * MS, 30 * MS);
}

/* The records of the long wait are read when the thread has noted a later turn, 6 ms after a wake-up. */
static void a_note_of_a_later_turn_waits_for_its_records(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    note(world, 36 * MS, 3);
    in(world, 1205 * MS);
    out(world, 1206 * MS);
    in(world, 1216 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1217 * MS);
    assert_sums(world, 204 * MS + 10 * MS - 36 * MS, 36 * MS);
}

/* 8 ms of a preemption come after the note, 2 ms of another one before. */
static void preempt_behind_a_note(struct world *world)
{
    start(world, 1000 * MS);
    preempt(world, 1001 * MS);
    in(world, 1003 * MS);
    out(world, 1004 * MS);
    in(world, 1009 * MS);
    note(world, (2 + 4) * MS, 3);
    preempt(world, 1010 * MS);
    in(world, 1018 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1019 * MS);
    assert_sums(world, MS, (2 + 4 + 8) * MS);
}

static void a_note_has_no_later_preemption(void **state)
{
    preempt_behind_a_note(*state);
}

static void a_note_has_no_turns_behind_the_end(void **state)
{
    struct world *world = *state;
    world->waits.read_account = end_account;
    preempt_behind_a_note(world);
}

static void an_older_note_has_no_effect(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    note(world, 4 * MS, 1);
    for (uint64_t i = 0; i < OFF_TURNS; i++) {
        out(world, (1001 + 2 * i) * MS);
        in(world, (1002 + 2 * i) * MS);
    }
    take(world, PERF_RECORD_EXIT, 0, 1020 * MS);
    assert_sums(world, OFF_TURNS * MS, 0);
}

/* Its account has 50 ms of the time before the exec. */
static void the_account_of_the_command_begins_with_its_note(void **state)
{
    struct world *world = *state;
    take(world, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 999 * MS);
    note(world, 50 * MS, 7);
    out(world, 1001 * MS);
    in(world, 1006 * MS);
    off_waits_read_account(&world->waits, off_thread_find(&world->tasks, TID));
    assert_true(off_thread_find(&world->tasks, TID)->delay.has_base);
    assert_int_equal(off_thread_find(&world->tasks, TID)->delay.base_ns, 50 * MS);
}

static void a_note_before_the_exec_is_no_begin(void **state)
{
    struct world *world = *state;
    take(world, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 1001 * MS);
    note(world, 50 * MS, 7);
    out(world, 1002 * MS);
    assert_false(off_thread_find(&world->tasks, TID)->delay.has_base);
}

/* Every process can write every note. */
static void malformed_notes_are_left_out(void **state)
{
    struct world *world = *state;
    const struct off_notes *notes = &world->waits.notes;
    struct run_account account;
    assert_false(off_notes_read(notes, TID, &account));
    struct account_note *made = note(world, 5, 6);
    assert_true(off_notes_read(notes, TID, &account));
    assert_int_equal(account.delay_ns, 5);
    assert_int_equal(account.turns, 6);
    assert_int_equal(account.read_ns, 1000 * MS);
    assert_false(off_notes_read(notes, TID + SESSION_ACCOUNTS, &account));
    note(world, UINT64_C(1) << 60, 6);
    assert_false(off_notes_read(notes, TID, &account));
    note(world, 5, 6)->time_ns = UINT64_MAX;
    assert_false(off_notes_read(notes, TID, &account));
    note(world, 5, 6);
    memset(made->text, '7', sizeof(made->text));
    assert_false(off_notes_read(notes, TID, &account));
    note(world, 5, 6);
    off_notes_drop(notes, TID + SESSION_ACCOUNTS);
    assert_true(off_notes_read(notes, TID, &account));
    off_notes_drop(notes, TID);
    assert_false(off_notes_read(notes, TID, &account));
}

static void a_recording_without_a_sampler_has_no_notes(void **state)
{
    struct off_notes notes = {0};
    struct run_account account;
    (void)state;
    off_notes_open(&notes, -1);
    assert_false(off_notes_read(&notes, TID, &account));
    off_notes_drop(&notes, TID);
    off_notes_close(&notes);
    int fd = memfd_create("requests", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, sizeof(struct requests)), 0);
    const struct account_note made = {.tid = TID, .text = "1 2 3\n"};
    off_t place = (off_t)offsetof(struct requests, accounts[TID]);
    assert_int_equal(pwrite(fd, &made, sizeof(made), place), sizeof(made));
    off_notes_open(&notes, fd);
    close(fd);
    assert_true(off_notes_read(&notes, TID, &account));
    assert_int_equal(account.turns, 3);
    off_notes_close(&notes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_wake_up_of_a_short_wait_is_no_wait),
        TEST(the_last_wake_up_of_a_long_wait_is_no_wait),
        TEST(a_note_of_a_later_turn_waits_for_its_records),
        TEST(a_note_has_no_later_preemption),
        TEST(a_note_has_no_turns_behind_the_end),
        TEST(an_older_note_has_no_effect),
        TEST(the_account_of_the_command_begins_with_its_note),
        TEST(a_note_before_the_exec_is_no_begin),
        TEST(malformed_notes_are_left_out),
        cmocka_unit_test(a_recording_without_a_sampler_has_no_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
