/* SPDX-License-Identifier: MIT */
/* From switch records to samples: the samples of a thread add up to its waits, whatever the looks have found. */
#include "record/off_cpu/records/off_records.h"
#include "record/off_cpu/waits/off_windows.h"
#include "record/off_cpu/file/wait_frames.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
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

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    off_queue_open(&world->queue);
    world->waits =
        (struct off_waits){.samples = {.ticks = {10 * MS, 42, 256}, .queue = &world->queue}};
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

static void start(struct world *world, uint64_t time_ns)
{
    take(world, PERF_RECORD_FORK, 0, time_ns);
    take(world, PERF_RECORD_SWITCH, 0, time_ns);
}

static void out(struct world *world, uint64_t time_ns)
{
    take(world, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, time_ns);
}

static void in(struct world *world, uint64_t time_ns)
{
    take(world, PERF_RECORD_SWITCH, 0, time_ns);
}

/* A look of 10 us whose stack is a frame at this address. */
static void look(struct world *world, uint64_t time_ns, uint64_t avma)
{
    struct off_thread *thread = off_thread_find(&world->tasks, TID);
    thread->look.stack = look_stack_new(&(struct look_frames){
        .reason_avma = wait_frame_avma(WAIT_LOCK), .frames = &avma, .frame_count = 1});
    thread->look.begin_ns = time_ns;
    thread->look.end_ns = time_ns + 10000;
    thread->look.woken_ns = thread->delay.woken_ns;
}

static void flush(struct world *world, uint64_t time_ns)
{
    off_windows_flush(&world->waits, off_thread_find(&world->tasks, TID), time_ns);
}

/* A thread that has waited again meanwhile is for the next tick. */
static void a_tick_ends_while_its_threads_switch(void **state)
{
    struct world *world = *state;
    enum { SWITCHES = 1000 };
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    for (uint64_t tick = 0; tick < 2; tick++) {
        uint64_t looks = 0, now_ns = (1002 + tick) * MS;
        off_waits_begin_tick(&world->waits);
        while (looks < SWITCHES && off_waits_next(&world->waits)) {
            in(world, now_ns + 2 * looks);
            out(world, now_ns + 2 * looks + 1);
            looks++;
        }
        assert_int_equal(looks, 1);
    }
}

/* Weight and number of the samples with this frame next to the leaf, or, without, as the leaf. */
struct found {
    uint64_t weight_ns, count, first_ns;
};

static struct found find(struct world *world, uint64_t avma)
{
    struct found found = {.first_ns = UINT64_MAX};
    const struct off_entry *entry;
    size_t at = 0;
    while ((entry = off_entry_next(&world->queue.entries, &at))) {
        const uint64_t *frames = off_entry_content(entry);
        if (entry->kind == OFF_ENTRY_END)
            continue;
        assert_int_equal(entry->kind, OFF_ENTRY_SAMPLE);
        assert_int_equal(entry->tid, TID);
        if (frames[entry->sample.frame_count - 1] != avma)
            continue;
        found.weight_ns += entry->sample.weight_ns;
        found.count++;
        if (entry->time_ns < found.first_ns)
            found.first_ns = entry->time_ns;
    }
    return found;
}

static void a_long_wait_has_its_exact_length(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1012 * MS, 0x1000);
    flush(world, 1100 * MS);
    in(world, 1205 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1206 * MS);
    struct found found = find(world, 0x1000);
    assert_int_equal(found.weight_ns, 204 * MS);
    assert_in_range(found.count, 19, 21);
    assert_int_equal(found.first_ns, 1001 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 204 * MS);
    assert_int_equal(world->waits.samples.sums.with_stack_ns, 204 * MS);
}

static void an_object_has_the_time_of_its_waits(void **state)
{
    struct world *world = *state;
    struct off_objects *objects = &world->waits.samples.objects;
    int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    uint32_t number = off_objects_find(objects, getpid(), descriptor);
    assert_int_equal(number, 1);
    assert_int_equal(off_objects_find(objects, getpid(), descriptor), 1);
    assert_int_equal(off_objects_find(objects, getpid(), -1), 0);
    assert_string_equal(objects->objects[0].text, "/dev/null");
    close(descriptor);
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1012 * MS, 0x1000);
    struct look_stack *stack = off_thread_find(&world->tasks, TID)->look.stack;
    stack->descriptor_object = number;
    stack->object_number = number;
    in(world, 1205 * MS);
    size_t at = 0;
    assert_int_equal(objects->objects[0].waited_ns, 204 * MS);
    assert_int_equal(off_entry_next(&world->queue.entries, &at)->sample.object_number, number);
    off_objects_free(objects);
}

/* A server with any number of connections. */
static void objects_are_limited(void **state)
{
    (void)state;
    struct off_objects objects = {0};
    int pipes[OFF_OBJECTS_MAX + 10][2];
    for (uint32_t i = 0; i < OFF_OBJECTS_MAX + 10; i++) {
        assert_int_equal(pipe2(pipes[i], O_CLOEXEC), 0);
        assert_int_equal(off_objects_find(&objects, getpid(), pipes[i][0]),
                         i < OFF_OBJECTS_MAX ? i + 1 : 0);
    }
    for (size_t i = 0; i < OFF_OBJECTS_MAX + 10; i++) {
        close(pipes[i][0]);
        close(pipes[i][1]);
    }
    off_objects_add(&objects, 0, 1);
    off_objects_add(&objects, OFF_OBJECTS_MAX + 1, 1);
    off_objects_free(&objects);
}

static void a_wait_without_a_look_is_not_explained(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    in(world, 1101 * MS);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_UNSEEN)).weight_ns, 100 * MS);
    assert_int_equal(world->waits.samples.sums.unseen_ns, 100 * MS);
}

/* The look came late: its stack belongs to a later wait. */
static void a_look_after_the_wait_does_not_count(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1101 * MS, 0x1000);
    in(world, 1101 * MS);
    assert_int_equal(find(world, 0x1000).count, 0);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_UNSEEN)).weight_ns, 100 * MS);
}

/* Waits of 1 ms, every third with a look: at two places, one of them three times as often. */
static void short_waits_share_the_exact_sum(void **state)
{
    struct world *world = *state;
    uint64_t time_ns = 1000 * MS;
    start(world, time_ns);
    for (int i = 0; i < 120; i++, time_ns += 3 * MS) {
        out(world, time_ns);
        if (i % 3 == 0)
            look(world, time_ns + MS / 2, i % 12 ? 0x1000 : 0x2000);
        in(world, time_ns + MS);
    }
    assert_int_equal(find(world, 0x1000).count, 0);
    flush(world, time_ns);
    struct found often = find(world, 0x1000), seldom = find(world, 0x2000);
    assert_int_equal(often.weight_ns + seldom.weight_ns, 120 * MS);
    assert_int_equal(often.weight_ns, 90 * MS);
    assert_int_equal(often.count, 30);
}

static void a_window_without_a_look_leaves_its_sum_to_the_next(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    in(world, 1002 * MS);
    flush(world, 2000 * MS);
    assert_int_equal(world->queue.entries.size, 0);
    out(world, 2001 * MS);
    look(world, 2001 * MS, 0x1000);
    in(world, 2002 * MS);
    flush(world, 3000 * MS);
    assert_int_equal(find(world, 0x1000).weight_ns, 2 * MS);
}

static void waits_that_no_tick_has_met_are_named_at_the_end(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    in(world, 1002 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1003 * MS);
    struct found found = find(world, wait_frame_avma(WAIT_FRAME_SHORT));
    assert_int_equal(found.weight_ns, MS);
    assert_int_equal(found.first_ns, 1001 * MS);
    assert_int_equal(world->waits.samples.sums.short_ns, MS);
    assert_null(off_thread_find(&world->tasks, TID));
}

static void a_preempted_thread_does_not_wait(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    take(world, PERF_RECORD_SWITCH,
         PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 1001 * MS);
    in(world, 1091 * MS);
    flush(world, 1100 * MS);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_RUNNABLE)).weight_ns, 90 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 0);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 90 * MS);
}

static void preempt(struct world *world, uint64_t from_ns, uint64_t until_ns)
{
    take(world, PERF_RECORD_SWITCH,
         PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, from_ns);
    in(world, until_ns);
}

static void a_sum_has_the_number_of_its_intervals(void **state)
{
    struct world *world = *state;
    size_t at = 0;
    start(world, 1000 * MS);
    for (uint64_t i = 0; i < 5; i++)
        preempt(world, (1001 + 10 * i) * MS, (1004 + 10 * i) * MS);
    flush(world, 2000 * MS);
    const struct off_entry *entry = off_entry_next(&world->queue.entries, &at);
    assert_int_equal(entry->sample.weight_ns, 15 * MS);
    assert_int_equal(entry->sample.object_number, 5);
}

static void a_starved_thread_has_contiguous_samples(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    take(world, PERF_RECORD_SWITCH,
         PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 1001 * MS);
    flush(world, 1010 * MS);
    flush(world, 2000 * MS);
    flush(world, 3000 * MS);
    struct found found = find(world, wait_frame_avma(WAIT_FRAME_RUNNABLE));
    assert_int_equal(found.weight_ns, 1999 * MS);
    assert_int_equal(found.count, 2);
    in(world, 3005 * MS);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_RUNNABLE)).weight_ns, 2004 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 2004 * MS);
}

static struct run_account account; /* of the thread */

static int read_account(pid_t pid, pid_t tid, struct run_account *read)
{
    (void)pid;
    (void)tid;
    *read = account;
    return 0;
}

/* Woken 30 ms before it got a processor. */
static void a_woken_thread_does_not_wait(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    account = (struct run_account){.delay_ns = 30 * MS};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1012 * MS, 0x1000);
    in(world, 1205 * MS);
    assert_int_equal(find(world, 0x1000).weight_ns, 174 * MS);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_RUNNABLE)).weight_ns, 30 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 174 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 30 * MS);
}

/* A look at 1012 ms has found the thread asleep. */
static void time_without_a_processor_before_the_look_is_sleep(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    account = (struct run_account){.delay_ns = 203 * MS};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1012 * MS, 0x1000);
    in(world, 1205 * MS);
    assert_int_equal(find(world, 0x1000).weight_ns, 204 * MS);
    out(world, 1206 * MS); /* the next wait does not have it either */
    look(world, 1220 * MS, 0x1000);
    account.delay_ns += 185 * MS;
    in(world, 1406 * MS);
    assert_int_equal(find(world, 0x1000).weight_ns, 219 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 219 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 185 * MS);
}

/* The look was 20 ms before the end of the wait. When the record of the end is read, at 1300 ms, the account has two later
 * turns, after 30 and 50 ms without a processor: these are no sleep. */
static void time_without_a_processor_after_the_wait_is_no_sleep(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1185 * MS, 0x1000);
    account = (struct run_account){
        .cpu_ns = 11 * MS, .delay_ns = 80 * MS, .turns = 4, .read_ns = 1300 * MS};
    in(world, 1205 * MS);
    out(world, 1210 * MS);
    in(world, 1250 * MS);
    out(world, 1255 * MS);
    in(world, 1310 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1311 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 80 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, (204 + 40 + 55 - 80) * MS);
}

/* 40 ms of a preemption are given back to the short waits between the look and the end of the wait. */
static void time_given_back_after_the_look_is_no_sleep(void **state)
{
    struct world *world = *state;
    struct off_thread *thread;
    world->waits.read_account = read_account;
    account = (struct run_account){.turns = 1};
    start(world, 1000 * MS);
    thread = off_thread_find(&world->tasks, TID);
    thread->runnable =
        (struct short_waits){.sum_ns = 40 * MS, .since_ns = 900 * MS, .intervals = 1};
    thread->woken_ns = -40 * (int64_t)MS;
    world->waits.samples.sums.runnable_ns = 40 * MS;
    out(world, 1001 * MS);
    look(world, 1150 * MS, 0x1000);
    flush(world, 1160 * MS);
    assert_int_equal(thread->woken_ns, 0);
    account = (struct run_account){.cpu_ns = MS, .delay_ns = 20 * MS, .turns = 2};
    in(world, 1205 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 20 * MS);
}

/* 6 ms after each of five short waits: more than two ticks together, and no interval of that length. */
static void wake_ups_of_short_waits_are_a_sum(void **state)
{
    struct world *world = *state;
    size_t at = 0;
    world->waits.read_account = read_account;
    start(world, 1000 * MS);
    for (uint64_t i = 0; i < 5; i++) {
        out(world, (1001 + 20 * i) * MS);
        in(world, (1009 + 20 * i) * MS);
    }
    account = (struct run_account){.delay_ns = 30 * MS, .turns = 6};
    flush(world, 2000 * MS);
    const struct off_entry *entry = off_entry_next(&world->queue.entries, &at);
    assert_non_null(entry);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_RUNNABLE)).count, 1);
    assert_int_equal(entry->sample.weight_ns, 30 * MS);
    assert_int_equal(entry->sample.object_number, 5);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 10 * MS);
}

/* The account is read after the wake-up, before the record of the switch. */
static void a_wake_up_found_early_belongs_to_its_wait(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1012 * MS, 0x1000);
    account = (struct run_account){.cpu_ns = 1 * MS, .delay_ns = 30 * MS, .turns = 2};
    off_waits_read_account(&world->waits, off_thread_find(&world->tasks, TID));
    in(world, 1205 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1206 * MS);
    assert_int_equal(find(world, 0x1000).weight_ns, 174 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 30 * MS);
}

/* Of 50 waits of 1 ms, a tenth was time without a processor. */
static void short_waits_share_what_is_left_without_wake_ups(void **state)
{
    struct world *world = *state;
    uint64_t time_ns = 1000 * MS;
    world->waits.read_account = read_account;
    start(world, time_ns);
    for (int i = 0; i < 50; i++, time_ns += 3 * MS) {
        out(world, time_ns);
        look(world, time_ns + MS / 2, 0x1000);
        in(world, time_ns + MS);
    }
    account = (struct run_account){.delay_ns = 5 * MS};
    flush(world, time_ns);
    flush(world, time_ns + MS); /* the same number means nothing new */
    assert_int_equal(find(world, 0x1000).weight_ns, 45 * MS);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_RUNNABLE)).weight_ns, 5 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 45 * MS);
}

/* The scheduler's account has 20 us more for each turn; the last 10 of 61 turns come after the last read of the
 * account. */
static void cpu_time_of_wake_ups_is_no_wait(void **state)
{
    struct world *world = *state;
    uint64_t time_ns = 1000 * MS;
    world->waits.read_account = read_account;
    account = (struct run_account){.turns = 0};
    start(world, time_ns);
    for (int i = 0; i < 60; i++, time_ns += 3 * MS) {
        out(world, time_ns);
        if (i == 50) {
            account = (struct run_account){.cpu_ns = 50 * 2 * MS + 51 * MS / 50, .turns = 51};
            flush(world, time_ns);
            assert_int_equal(find(world, 0x1000).weight_ns, 50 * MS - 51 * MS / 50);
        }
        look(world, time_ns + MS / 2, 0x1000);
        in(world, time_ns + MS);
    }
    take(world, PERF_RECORD_EXIT, 0, time_ns);
    assert_int_equal(find(world, 0x1000).weight_ns, 60 * MS - 61 * MS / 50);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 60 * MS - 61 * MS / 50);
}

/* Woken threads take the processor 50 times. The account has the time from their wake-ups on, 15 us each, as runnable. A
 * wait of 1 ms has no part of it. */
static void time_from_another_wake_up_to_the_switch_is_runnable(void **state)
{
    struct world *world = *state;
    uint64_t time_ns = 1000 * MS;
    const uint64_t early_ns = 50 * MS * 15 / 1000;
    world->waits.read_account = read_account;
    start(world, time_ns);
    for (int i = 0; i < 50; i++, time_ns += 3 * MS) {
        take(world, PERF_RECORD_SWITCH,
             PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, time_ns + MS);
        in(world, time_ns + 3 * MS);
    }
    out(world, time_ns);
    account = (struct run_account){
        .cpu_ns = 50 * MS - early_ns, .delay_ns = 100 * MS + early_ns, .turns = 51};
    flush(world, time_ns + MS / 2);
    flush(world, time_ns + MS / 2); /* the same numbers mean nothing new */
    assert_int_equal(world->waits.samples.sums.runnable_ns, 100 * MS + early_ns);
    in(world, time_ns + MS);
    take(world, PERF_RECORD_EXIT, 0, time_ns + 2 * MS);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_RUNNABLE)).weight_ns,
                     100 * MS + early_ns);
    assert_int_equal(world->waits.samples.sums.waiting_ns, MS);
}

/* The thread waits for 5 ms, is preempted for 9 ms, and ends. The account is read at its end: it has two later turns, and 6
 * ms more of delay. */
static void end_with_later_turns(struct world *world, uint64_t read_ns)
{
    world->waits.read_account = read_account;
    account = (struct run_account){.turns = 1};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    in(world, 1006 * MS);
    take(world, PERF_RECORD_SWITCH,
         PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 1007 * MS);
    in(world, 1016 * MS);
    account =
        (struct run_account){.cpu_ns = 4 * MS, .delay_ns = 15 * MS, .turns = 5, .read_ns = read_ns};
    take(world, PERF_RECORD_EXIT, 0, 1017 * MS);
}

/* A third of it is the wake-up's. */
static void later_turns_of_an_end_share_the_delay_with_wake_ups(void **state)
{
    struct world *world = *state;
    end_with_later_turns(world, 1117 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, (9 + 2) * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 3 * MS);
}

/* Time that the virtual machine had no processor for is not in the account: no wake-up is moved into it. */
static void stolen_time_stays_cpu_time(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    start(world, 1000 * MS);
    out(world, 1010 * MS);
    look(world, 1012 * MS, 0x1000);
    in(world, 1015 * MS);
    out(world, 1016 * MS);
    account = (struct run_account){.cpu_ns = 7 * MS, .delay_ns = 3 * MS, .turns = 2};
    flush(world, 1017 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 3 * MS);
    assert_int_equal(find(world, 0x1000).weight_ns, 2 * MS);
}

static void excess_is_found_once(void **state)
{
    (void)state;
    struct cpu_excess forked = {.has_base = true}, older = {.has_base = false};
    assert_int_equal(cpu_excess_take(&forked, 10, 0, 4), 6);
    assert_int_equal(cpu_excess_take(&forked, 10, 0, 4), 0);
    assert_int_equal(cpu_excess_take(&forked, 20, 0, 16), -2); /* stolen from the virtual machine */
    assert_int_equal(cpu_excess_take(&older, 1000, 50, 4), 0);
    older.turns = 1;
    assert_int_equal(cpu_excess_take(&older, 1010, 51, 4), 10);
    struct cpu_excess usual = {.taken_ns = 50000, .read_turns = 10, .turns = 3}, high = usual;
    struct cpu_excess burst = {.taken_ns = 39000, .read_turns = 3, .turns = 171};
    high.taken_ns *= 100;
    assert_int_equal(cpu_excess_estimate(&usual), 15000);
    assert_int_equal(cpu_excess_estimate(&high), 3 * CPU_EXCESS_MAX_NS);
    assert_int_equal(cpu_excess_estimate(&burst), 39000);
}

/* The thread has run on, or runs, since the last record. */
static void an_account_newer_than_the_records_waits_for_them(void **state)
{
    struct world *world = *state;
    const uint64_t extra_ns = MS / 20;
    world->waits.read_account = read_account;
    start(world, 1000 * MS);
    account = (struct run_account){.cpu_ns = 3 * MS, .turns = 1};
    flush(world, 1000 * MS + MS / 2);
    out(world, 1001 * MS);
    account = (struct run_account){.cpu_ns = 9 * MS, .turns = 3};
    flush(world, 1002 * MS);
    in(world, 1003 * MS);
    out(world, 1006 * MS);
    flush(world, 1007 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 2 * MS);
    in(world, 1008 * MS);
    out(world, 1013 * MS - extra_ns);
    flush(world, 1014 * MS);
    in(world, 1015 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 6 * MS);
    assert_int_equal(off_thread_find(&world->tasks, TID)->excess.taken_ns, extra_ns);
}

/* The account has a preemption of 8 ms that is to come in the records, and no wake-up. */
static void runnable_time_of_later_records_is_counted_once(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    account = (struct run_account){.cpu_ns = 2 * MS, .delay_ns = 8 * MS, .turns = 3};
    flush(world, 1002 * MS);
    in(world, 1030 * MS);
    take(world, PERF_RECORD_SWITCH,
         PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 1031 * MS);
    in(world, 1039 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1040 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 29 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 8 * MS);
}

/* The turns before the exec count as turns of the thread. */
static void an_exec_does_not_part_the_records_from_the_account(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    in(world, 1002 * MS);
    take(world, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 1003 * MS);
    out(world, 1004 * MS);
    account = (struct run_account){.cpu_ns = 3 * MS + MS / 10, .turns = 2};
    flush(world, 1005 * MS);
    assert_int_equal(off_thread_find(&world->tasks, TID)->excess.taken_ns, MS / 10);
}

static void a_base_newer_than_the_records_is_replaced(void **state)
{
    (void)state;
    struct cpu_excess excess = {.has_base = false};
    assert_int_equal(cpu_excess_take(&excess, 1000, 52, 400),
                     0); /* two of the turns have no record yet */
    excess.turns = 2;
    assert_int_equal(cpu_excess_take(&excess, 1000, 52, 590), 0);
    excess.turns++;
    assert_int_equal(cpu_excess_take(&excess, 1050, 53, 600), 40);
    excess.turns++;
    assert_int_equal(cpu_excess_take(&excess, 1090, 55, 610), 0); /* one more than the records */
    assert_int_equal(excess.read_turns, 1);
}

/* From the FORK to the EXIT, without the time of lost records. */
static void the_end_of_a_thread_has_its_lifetime(void **state)
{
    struct world *world = *state;
    const struct ring_record lost = {.type = PERF_RECORD_LOST, .lost = 7, .time_ns = 1050 * MS};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    off_records_take(&world->records, &lost);
    in(world, 1101 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1301 * MS);
    const struct off_entry *entry, *end = NULL;
    for (size_t at = 0; (entry = off_entry_next(&world->queue.entries, &at));)
        end = entry;
    assert_non_null(end);
    assert_int_equal(end->kind, OFF_ENTRY_END);
    assert_int_equal(end->time_ns, 1301 * MS);
    assert_int_equal(end->lifetime_ns, 201 * MS);
}

static bool is_runnable(pid_t pid, pid_t tid)
{
    return pid == PID && tid == TID;
}

/* The window ends before the switch record. */
static void a_thread_that_is_runnable_now_writes_no_wait(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    account = (struct run_account){.delay_ns = 0};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1012 * MS, 0x1000);
    world->waits.is_runnable = is_runnable;
    world->waits.checks_left = 1;
    flush(world, 1900 * MS);
    assert_int_equal(world->queue.entries.size, 0);
    account.delay_ns = 900 * MS; /* the kernel adds the time when the thread gets a processor */
    in(world, 2001 * MS);
    assert_int_equal(find(world, 0x1000).weight_ns, 100 * MS);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_RUNNABLE)).weight_ns, 900 * MS);
}

static void runnable_time_is_found_once(void **state)
{
    (void)state;
    struct run_delay forked = {.has_base = true}, older = {.has_base = false};
    assert_int_equal(run_delay_take(&forked, 10, 4), 6);
    assert_int_equal(run_delay_take(&forked, 10, 4), 0);
    assert_int_equal(run_delay_take(&forked, 30, 9), 15);
    assert_int_equal(run_delay_take(&older, 1000, 4), 0);
    assert_int_equal(run_delay_take(&older, 1010, 4), 10);
    /* schedstat has a preemption before the record was read */
    assert_int_equal(run_delay_take(&older, 1020, 4), 10);
    assert_int_equal(run_delay_take(&older, 1020, 14), -10);
    assert_int_equal(run_delay_take(&older, 1025, 14), 5);
    assert_int_equal(run_delay_take(&older, 1035, 14), 10);
}

static void lost_records_make_no_wait(void **state)
{
    struct world *world = *state;
    const struct ring_record lost = {.type = PERF_RECORD_LOST, .lost = 7, .time_ns = 1050 * MS};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    off_records_take(&world->records, &lost);
    in(world, 5000 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 0);
    assert_int_equal(world->waits.samples.sums.lost_ns, 3999 * MS);
    assert_int_equal(world->records.lost, 7);
    assert_int_equal(world->queue.entries.size, 0);
}

static void lose(struct world *world, uint64_t time_ns)
{
    const struct ring_record lost = {.type = PERF_RECORD_LOST, .lost = 1, .time_ns = time_ns};
    off_records_take(&world->records, &lost);
}

/* 30 ms of 101 on a processor, 20 without one. */
static void sums_of_lost_records_are_those_of_schedstat(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    account = (struct run_account){.cpu_ns = 31 * MS, .delay_ns = 20 * MS, .turns = 9};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    in(world, 1002 * MS);
    lose(world, 1003 * MS);
    in(world, 1103 * MS);
    take(world, PERF_RECORD_EXIT, 0, 1103 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 52 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 20 * MS);
    assert_int_equal(world->waits.samples.sums.lost_ns, 0);
    assert_int_equal(world->waits.samples.sums.filled_ns, 101 * MS);
}

/* Sum of all samples. */
static uint64_t weight_of_all(struct world *world)
{
    const struct off_entry *entry;
    uint64_t sum_ns = 0;
    for (size_t at = 0; (entry = off_entry_next(&world->queue.entries, &at));)
        sum_ns += entry->kind == OFF_ENTRY_SAMPLE ? entry->sample.weight_ns : 0;
    return sum_ns;
}

/* The loss shows after the window has ended: of a wait with a look, and of a preemption. */
static void a_part_written_before_a_loss_is_written_once(void **state)
{
    struct world *world = *state;
    struct off_thread *thread;
    world->waits.read_account = read_account;
    account = (struct run_account){.cpu_ns = 11 * MS, .delay_ns = 100 * MS, .turns = 9};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1012 * MS, 0x1000);
    thread = off_thread_find(&world->tasks, TID);
    thread->is_active = false;
    flush(world, 1100 * MS);
    lose(world, 1101 * MS);
    in(world, 1201 * MS);
    take(world, PERF_RECORD_SWITCH,
         PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 1202 * MS);
    flush(world, 1300 * MS);
    lose(world, 1301 * MS);
    in(world, 1402 * MS);
    account.cpu_ns = 12 * MS;
    take(world, PERF_RECORD_EXIT, 0, 1402 * MS);
    assert_int_equal(world->waits.samples.sums.lost_ns, 0);
    assert_in_range(weight_of_all(world), 388 * MS, 391 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns + world->waits.samples.sums.runnable_ns,
                     weight_of_all(world));
}

/* An account of later turns. */
static void a_thread_with_later_turns_has_ended_its_wait(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    account = (struct run_account){.cpu_ns = 2 * MS, .turns = 2};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    flush(world, 1900 * MS);
    assert_int_equal(world->queue.entries.size, 0);
}

/* No turn of the thread is among the lost records; later on there are two. */
static void a_thread_that_has_not_run_waits_across_lost_records(void **state)
{
    struct world *world = *state;
    world->waits.read_account = read_account;
    account = (struct run_account){.cpu_ns = MS, .turns = 3};
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    look(world, 1012 * MS, 0x1000);
    off_thread_find(&world->tasks, TID)->look.turns = 3;
    lose(world, 1100 * MS);
    flush(world, 2000 * MS);
    account.turns = 4;
    in(world, 2201 * MS);
    assert_int_equal(find(world, 0x1000).weight_ns, 1200 * MS);
    out(world, 2202 * MS);
    look(world, 2213 * MS, 0x2000);
    off_thread_find(&world->tasks, TID)->look.turns = 4;
    lose(world, 2220 * MS);
    account = (struct run_account){.cpu_ns = 3 * MS, .turns = 6};
    flush(world, 3000 * MS);
    assert_int_equal(find(world, 0x2000).weight_ns, 0);
    assert_int_equal(world->waits.samples.sums.lost_ns, 0);
}

static void time_before_sampling_does_not_count(void **state)
{
    struct world *world = *state;
    world->waits.is_quiet = true;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    world->waits.is_quiet = false;
    off_waits_restart(&world->waits, off_thread_find(&world->tasks, TID), 1101 * MS);
    in(world, 1201 * MS);
    assert_int_equal(find(world, wait_frame_avma(WAIT_FRAME_UNSEEN)).weight_ns, 100 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 100 * MS);
}

/* execve() by another thread than the first: the first has ended, the caller gets its id. */
static void records_lost_before_sampling_have_no_effect(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1005 * MS);
    const struct ring_record lost = {.type = PERF_RECORD_LOST, .lost = 1, .time_ns = 1006 * MS};
    off_records_take(&world->records, &lost);
    off_waits_restart(&world->waits, off_thread_find(&world->tasks, TID), 1100 * MS);
    in(world, 1200 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 100 * MS);
    assert_int_equal(world->waits.samples.sums.lost_ns, 0);
}

static void an_exec_ends_the_other_threads(void **state)
{
    struct world *world = *state;
    start(world, 1000 * MS);
    out(world, 1001 * MS);
    const struct ring_record exec = {.type = PERF_RECORD_COMM,
                                     .misc = PERF_RECORD_MISC_COMM_EXEC,
                                     .pid = PID,
                                     .tid = PID,
                                     .time_ns = 1050 * MS};
    off_records_take(&world->records, &exec);
    assert_int_equal(world->tasks.count, 1);
    assert_null(off_thread_find(&world->tasks, TID));
    assert_int_equal(off_thread_find(&world->tasks, PID)->run.state, RUN_ON);
    assert_int_equal(off_process_find(&world->tasks, PID)->program_ns, 1050 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 49 * MS);
}

/* The last switch of an ended task comes behind its EXIT. */
static void threads_of_the_system_come_by_fork(void **state)
{
    struct world *world = *state;
    world->records.reach = REACH_SYSTEM;
    in(world, 1000 * MS);
    out(world, 1001 * MS);
    assert_int_equal(world->tasks.count, 0);
    start(world, 1002 * MS);
    assert_int_equal(world->tasks.count, 1);
    const struct ring_record of_kernel = {
        .type = PERF_RECORD_FORK, .pid = 200, .tid = 200, .parent_pid = 2, .time_ns = 1003 * MS};
    off_records_take(&world->records, &of_kernel);
    assert_int_equal(world->tasks.count, 1);
}

static void fork_of(struct world *world, pid_t pid, pid_t tid)
{
    const struct ring_record fork = {.type = PERF_RECORD_FORK,
                                     .pid = (uint32_t)pid,
                                     .tid = (uint32_t)tid,
                                     .parent_pid = PID,
                                     .parent_tid = PID,
                                     .time_ns = 1000 * MS};
    off_records_take(&world->records, &fork);
}

/* The creator's events report it, and no switch record follows: it would be runnable forever. */
static void a_task_without_events_is_no_thread(void **state)
{
    struct world *world = *state;
    static const struct {
        enum event_reach reach;
        size_t threads, all; /* after a thread, and a process */
    } cases[] = {{REACH_THREAD, 0, 0}, {REACH_PROCESS, 1, 1}, {REACH_CHILDREN, 1, 2}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        world->records.reach = cases[i].reach;
        fork_of(world, PID, TID);
        assert_int_equal(world->tasks.count, cases[i].threads);
        fork_of(world, 200, 200);
        assert_int_equal(world->tasks.count, cases[i].all);
        while (world->tasks.count > 0)
            off_thread_remove(&world->tasks, world->tasks.threads[0]);
    }
}

static void switch_on(struct world *world, uint32_t processor, bool is_out, uint64_t time_ns)
{
    const struct ring_record record = {.type = PERF_RECORD_SWITCH_CPU_WIDE,
                                       .misc = is_out ? PERF_RECORD_MISC_SWITCH_OUT : 0,
                                       .pid = PID,
                                       .tid = TID,
                                       .processor = processor,
                                       .time_ns = time_ns};
    off_records_take(&world->records, &record);
}

static void waits_count_by_the_processor_of_their_start(void **state)
{
    struct world *world = *state;
    const bool is_listed[] = {true, false};
    world->records.reach = REACH_SYSTEM;
    world->records.is_listed = is_listed;
    take(world, PERF_RECORD_FORK, 0, 1000 * MS);
    switch_on(world, 0, false, 1005 * MS);
    switch_on(world, 0, true, 1010 * MS);
    switch_on(world, 1, false, 1020 * MS);
    switch_on(world, 1, true, 1030 * MS);
    switch_on(world, 0, false, 1070 * MS);
    assert_int_equal(world->waits.samples.sums.waiting_ns, 10 * MS);
    assert_int_equal(world->waits.samples.sums.runnable_ns, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_of_the_system_come_by_fork),
        TEST(a_task_without_events_is_no_thread),
        TEST(a_tick_ends_while_its_threads_switch),
        TEST(records_lost_before_sampling_have_no_effect),
        TEST(waits_count_by_the_processor_of_their_start),
        TEST(a_long_wait_has_its_exact_length),
        TEST(an_object_has_the_time_of_its_waits),
        cmocka_unit_test(objects_are_limited),
        TEST(a_wait_without_a_look_is_not_explained),
        TEST(a_look_after_the_wait_does_not_count),
        TEST(short_waits_share_the_exact_sum),
        TEST(a_window_without_a_look_leaves_its_sum_to_the_next),
        TEST(waits_that_no_tick_has_met_are_named_at_the_end),
        TEST(a_preempted_thread_does_not_wait),
        TEST(a_starved_thread_has_contiguous_samples),
        TEST(a_sum_has_the_number_of_its_intervals),
        TEST(a_woken_thread_does_not_wait),
        TEST(wake_ups_of_short_waits_are_a_sum),
        TEST(time_without_a_processor_before_the_look_is_sleep),
        TEST(time_without_a_processor_after_the_wait_is_no_sleep),
        TEST(time_given_back_after_the_look_is_no_sleep),
        TEST(short_waits_share_what_is_left_without_wake_ups),
        TEST(cpu_time_of_wake_ups_is_no_wait),
        TEST(time_from_another_wake_up_to_the_switch_is_runnable),
        TEST(later_turns_of_an_end_share_the_delay_with_wake_ups),
        TEST(stolen_time_stays_cpu_time),
        cmocka_unit_test(excess_is_found_once),
        TEST(an_account_newer_than_the_records_waits_for_them),
        TEST(a_part_written_before_a_loss_is_written_once),
        TEST(a_thread_with_later_turns_has_ended_its_wait),
        TEST(a_wake_up_found_early_belongs_to_its_wait),
        TEST(runnable_time_of_later_records_is_counted_once),
        TEST(an_exec_does_not_part_the_records_from_the_account),
        cmocka_unit_test(a_base_newer_than_the_records_is_replaced),
        TEST(the_end_of_a_thread_has_its_lifetime),
        TEST(a_thread_that_is_runnable_now_writes_no_wait),
        cmocka_unit_test(runnable_time_is_found_once),
        TEST(lost_records_make_no_wait),
        TEST(sums_of_lost_records_are_those_of_schedstat),
        TEST(a_thread_that_has_not_run_waits_across_lost_records),
        TEST(time_before_sampling_does_not_count),
        TEST(an_exec_ends_the_other_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
