/* SPDX-License-Identifier: MIT */
/*
 * A ring is written by the target, and a target may be anything: whatever lies in it, the collector goes
 * on, reads nothing that it should not, and counts what it could not take.
 */
#include "arch/own.h"
#include "record/collector/collector_parts.h"

#include "perfdata/reader.h"
#include "record/recorders/recorders.h"
#include "wire/atomic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "own_memory.h"

#define THREAD 7
#define PID 4242
#define TID 4243

static struct {
    struct session session;
    struct collector *collector;
    struct record_summary summary;
    struct record_options options;
    struct perfdata_writer *writer;
    int file;
    struct own_memory memory;
    struct ring ring; /* the target's side */
} at;

static int set_up(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    struct session_config session = {.period_ns = 1000000, .kernel_interval_ns = 20000000};
    assert_int_equal(session_open(&at.session, &session, NULL), 0);
    at.file = memfd_create("rec.data", MFD_CLOEXEC);
    struct perfdata_config config = {.start_time_ns = 1};
    recorders_describe(UINT32_MAX, 1000000, config.events);
    assert_int_equal(perfdata_writer_open(&at.writer, at.file, &config), 0);
    at.collector = collector_new();
    assert_non_null(at.collector);
    const struct collector_config parts = {.session = &at.session,
                                           .writer = at.writer,
                                           .options = &at.options,
                                           .summary = &at.summary};
    assert_int_equal(collector_init(at.collector, &parts), 0);
    at.memory = own_memory_make();
    const struct process process = {.pid = PID,
                                    .stated_pid = PID,
                                    .pid_fd = -1,
                                    .memory = own_memory_mapped(&at.memory, &at.session),
                                    .engine = ENGINE_PERF_TRAP};
    process_table_add(&at.collector->processes, &process);
    struct process_memory *shared = at.memory.shared;
    shared->threads[THREAD].slot = (struct thread_slot){.state = THREAD_ACTIVE, .tid = TID};
    shared->process.threads_started = 1;
    shared->process.threads_used = THREAD + 1;
    at.ring =
        (struct ring){.control = &shared->threads[THREAD].control, .data = shared->rings[THREAD]};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    perfdata_writer_close(at.writer);
    collector_free(at.collector);
    session_close(&at.session);
    own_memory_free(&at.memory);
    record_summary_free(&at.summary);
    return close(at.file);
}

static uint64_t damaged(void)
{
    return at.summary.lost[RECORD_LOST_OTHER];
}

struct stack_record {
    struct record_header header;
    struct record_stack stack;
    uint64_t frames[4];
};

static struct stack_record good_record(void)
{
    return (struct stack_record){
        .header = {.bytes = sizeof(struct stack_record),
                   .kind = RECORD_STACK,
                   .ticks = arch_ticks(),
                   .weight_ns = 1000000},
        .stack = {.frame_count = 4, .end = WALK_ROOT},
        .frames = {0x401000, 0x401100, 0x401200, 0x401300},
    };
}

/* As it is, whatever it says of itself; `bytes` of it. */
static void put(const void *record, uint32_t bytes)
{
    uint64_t position = 0;
    uint8_t *place = ring_reserve(&at.ring, bytes, &position);
    assert_non_null(place);
    memcpy(place, record, bytes);
    ring_commit(&at.ring, position, bytes);
}

static void drain(void)
{
    drain_all(&at.collector->drain);
    assert_int_equal(at.ring.control->tail, at.ring.control->head); /* all space is given back */
}

/* After anything, a thread that behaves is heard. */
static void expect_good_records_still_pass(void)
{
    uint64_t samples = at.summary.samples, lost = damaged();
    struct stack_record record = good_record();
    put(&record, sizeof(record));
    drain();
    assert_int_equal(at.summary.samples, samples + 1);
    assert_int_equal(damaged(), lost);
}

static void good_records_become_samples(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) { /* more than one lap */
        struct stack_record record = good_record();
        put(&record, sizeof(record));
        if (i % 100 == 99)
            drain();
    }
    assert_int_equal(at.summary.samples, 3000);
    assert_int_equal(at.summary.cpu_seen_ns, UINT64_C(3000) * 1000000);
    assert_int_equal(at.summary.threads, 1);
    assert_int_equal(damaged(), 0);
}

static void sizes_that_make_no_sense_skip_the_rest_of_the_ring(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {
        0,    4,     8,      12,     20,         sizeof(struct stack_record) + 8,
        4096, 65536, 262144, 262152, 0x7ffffff8, UINT32_MAX};
    drain(); /* the thread is known */
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint64_t lost = damaged();
        struct stack_record record = good_record();
        record.header.bytes = sizes[i];
        put(&record, sizeof(record));
        drain();
        assert_true(damaged() > lost);
        expect_good_records_still_pass();
    }
}

static void kinds_that_do_not_exist_are_counted(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {0, 6, 99, UINT8_MAX};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct stack_record record = good_record();
        record.header.kind = kinds[i];
        put(&record, sizeof(record));
        drain();
        assert_int_equal(damaged(), i + 1);
        expect_good_records_still_pass();
    }
}

static void events_without_a_row_or_of_the_launcher_are_counted(void **state)
{
    (void)state;
    static const uint16_t events[] = {RECORD_EVENTS, 256, UINT16_MAX, RECORD_EVENT_OFF_CPU};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct stack_record record = good_record();
        record.header.event = events[i];
        put(&record, sizeof(record));
        drain();
        assert_int_equal(damaged(), i + 1);
        assert_int_equal(at.summary.samples, i);
        expect_good_records_still_pass();
    }
}

struct object_record {
    struct stack_record stack;
    struct record_object object;
};

/* The thread's own creation, or its call about the thread with the handle 0x7f00. */
static struct object_record thread_record(enum record_event event)
{
    struct object_record record = {
        .stack = good_record(),
        .object = {.avma = 0x7f00, .code_avma = 0x401f00, .number = RECORD_NO_SLOT},
    };
    record.stack.header.bytes = sizeof(record);
    record.stack.header.event = (uint16_t)event;
    record.stack.header.flags = RECORD_OBJECT;
    record.stack.header.weight_ns = 1;
    return record;
}

/* The last sample of the capture, and the number of samples. */
static size_t read_samples(struct perfdata_event *last)
{
    struct perfdata_reader *reader;
    struct perfdata_event event;
    struct error error;
    size_t count = 0;
    assert_int_equal(perfdata_checkpoint(at.writer), 0);
    assert_int_equal(perfdata_reader_open(&reader, at.file, "rec.data", &error), 0);
    while (perfdata_next(reader, &event) > 0)
        if (event.kind == PERFDATA_SAMPLE) {
            *last = event;
            last->ip = event.callchain[0];
            count++;
        }
    perfdata_reader_close(reader);
    return count;
}

static void a_creation_is_a_sample_of_the_creator_about_the_new_thread(void **state)
{
    (void)state;
    struct perfdata_event sample;
    struct object_record record = thread_record(RECORD_EVENT_THREAD_CREATE);
    put(&record, sizeof(record));
    drain();
    assert_int_equal(damaged(), 0);
    assert_int_equal(read_samples(&sample), 1);
    assert_int_equal(sample.attr_index, 1);
    assert_int_equal(sample.tid, PID); /* the creator is unknown: the process */
    assert_int_equal(sample.weight, TID);
    assert_int_equal(sample.data_avma, 0x7f00);
    assert_int_equal(sample.ip, 0x401f00);
    assert_int_equal(sample.period, 1);
}

static void the_slot_of_a_creator_gives_its_tid(void **state)
{
    (void)state;
    static const struct {
        uint64_t slot;
        uint32_t expected;
    } cases[] = {{THREAD, TID},
                 {THREAD + 1, PID}, /* never used */
                 {SESSION_THREADS, PID},
                 {UINT64_MAX, PID}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct perfdata_event sample;
        struct object_record record = thread_record(RECORD_EVENT_THREAD_CREATE);
        record.object.number = cases[i].slot;
        put(&record, sizeof(record));
        drain();
        assert_int_equal(read_samples(&sample), i + 1);
        assert_int_equal(sample.tid, cases[i].expected);
    }
}

static void events_of_threads_are_outside_of_the_cpu_account(void **state)
{
    (void)state;
    struct perfdata_event sample;
    struct object_record record = thread_record(RECORD_EVENT_THREAD_JOIN);
    record.stack.header.weight_ns = UINT64_MAX / 4; /* no CPU time: not compared with a clock */
    put(&record, sizeof(record));
    drain();
    assert_int_equal(read_samples(&sample), 1);
    assert_int_equal(sample.attr_index, 2);
    assert_int_equal(sample.data_avma, 0x7f00);
    assert_int_equal(at.summary.samples + at.summary.cpu_seen_ns + at.summary.complete, 0);
    assert_int_equal(at.collector->processes.processes[0].account.seen_ns, 0);
}

static void objects_that_do_not_belong_to_the_event_are_counted(void **state)
{
    (void)state;
    struct object_record records[4];
    for (int i = 0; i < 4; i++)
        records[i] = thread_record(RECORD_EVENT_THREAD_CREATE);
    records[0].stack.header.event = RECORD_EVENT_CPU;
    records[1].stack.header.flags = 0;
    records[2].object.code_avma = UINT64_C(1) << 47;
    records[3].stack.header.bytes = sizeof(struct record_header) + 16;
    for (unsigned i = 0; i < 4; i++) {
        put(&records[i], records[i].stack.header.bytes);
        drain();
        assert_int_equal(damaged(), i + 1);
        expect_good_records_still_pass();
    }
}

static void put_name(uint32_t slot, const char name[16], uint32_t bytes)
{
    struct {
        struct record_header header;
        struct record_name name;
    } record = {.header = {.bytes = bytes, .kind = RECORD_NAME, .ticks = arch_ticks()},
                .name = {.slot = slot}};
    memcpy(record.name.name, name, 16);
    put(&record, bytes);
    drain();
}

static void names_are_of_the_thread_in_the_slot(void **state)
{
    (void)state;
    enum { BYTES = sizeof(struct record_header) + sizeof(struct record_name) };
    put_name(THREAD, "first\0xxxxxxxxx", BYTES);
    const struct thread *thread = thread_of_slot(&at.collector->processes.processes[0], THREAD);
    assert_string_equal(thread->name, "first");
    put_name(THREAD + 1, "other\0xxxxxxxxx", BYTES);
    put_name(UINT32_MAX, "other\0xxxxxxxxx", BYTES);
    assert_string_equal(thread->name, "first");
    put_name(THREAD, "0123456789abcdef", BYTES); /* without an end */
    assert_string_equal(thread->name, "0123456789abcde");
    assert_int_equal(damaged(), 0);
    put_name(THREAD, "short\0xxxxxxxxx", BYTES - 8);
    assert_int_equal(damaged(), 1);
    assert_string_equal(thread->name, "0123456789abcde");
    expect_good_records_still_pass();
}

static void frame_counts_beyond_the_record_are_counted(void **state)
{
    (void)state;
    static const uint32_t counts[] = {
        0, 5, RECORD_FRAMES_MAX, RECORD_FRAMES_MAX + 1, 0x20000000, UINT32_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct stack_record record = good_record();
        record.stack.frame_count = counts[i];
        put(&record, sizeof(record));
        drain();
        assert_int_equal(damaged(), i + 1);
        assert_int_equal(at.summary.samples, i);
        expect_good_records_still_pass();
    }
}

static void records_shorter_than_their_kind_are_counted(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {RECORD_STACK, RECORD_COPY, RECORD_CHECK};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (uint32_t bytes = sizeof(struct record_header); bytes < 40; bytes += 8) {
            uint64_t lost = damaged();
            struct stack_record record = good_record();
            record.header.kind = kinds[i];
            record.header.bytes = bytes;
            put(&record, bytes);
            drain();
            pending_finish(&at.collector->pending, true);
            assert_int_equal(damaged(), lost + 1);
        }
}

struct copy_record {
    struct record_header header;
    struct record_stack stack;
    struct record_copy copy;
    uint64_t words[8];
};

static struct copy_record good_copy(void)
{
    struct copy_record record = {
        .header = {.bytes = sizeof(struct copy_record),
                   .kind = RECORD_COPY,
                   .ticks = arch_ticks(),
                   .weight_ns = 1000000},
        .stack = {.end = WALK_UNKNOWN},
        .copy = {.known = 0x1ffff,
                 .leaf_bytes = 64,
                 .stack_start_avma = 0x7ffe0000,
                 .stack_end_avma = 0x7ffe0040},
    };
    record.copy.registers[16] = 0x401000;
    record.copy.registers[7] = 0x7ffe0000;
    return record;
}

static void take_copy(const struct copy_record *record)
{
    put(record, sizeof(*record));
    drain();
    pending_finish(&at.collector->pending, true);
    assert_int_equal(at.collector->pending.count, 0);
}

static void copies_whose_sizes_do_not_add_up_are_counted(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 56, 63, 72, RECORD_COPY_BYTES_MAX, 0x80000000, UINT32_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct copy_record record = good_copy();
        record.copy.leaf_bytes = sizes[i];
        take_copy(&record);
        record = good_copy();
        record.stack.frame_count = sizes[i] | 1;
        take_copy(&record);
        record = good_copy();
        record.copy.word_count = sizes[i] | 1;
        record.copy.middle_bytes = 8 * record.copy.word_count;
        take_copy(&record);
        record = good_copy();
        record.copy.middle_bytes = RECORD_MIDDLE_BYTES_MAX + (sizes[i] | 8);
        take_copy(&record);
        assert_int_equal(damaged(), 4 * i + 4);
        expect_good_records_still_pass();
    }
}

static void root_ends_that_cannot_be_are_counted(void **state)
{
    (void)state;
    static const struct {
        uint32_t bytes;
        uint64_t end_avma;
    } roots[] = {{72, 0x7ffe0040}, {UINT32_MAX, 0x7ffe0040}, {64, 56}, {8, 0}, {UINT32_MAX, 0}};
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        struct copy_record record = good_copy();
        record.copy.root_bytes = roots[i].bytes;
        record.copy.stack_end_avma = roots[i].end_avma;
        take_copy(&record);
        assert_int_equal(damaged(), i + 1);
        expect_good_records_still_pass();
    }
}

/* Nothing is mapped: no more than the first frame can come of it. */
static void copies_with_absurd_registers_give_a_leaf(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,         1, 0x7ffe003f, 0x7fffffffffffffff, UINT64_MAX - 7,
                                      UINT64_MAX};
    uint64_t expected = 0;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        for (int reg = 0; reg < 17; reg++) {
            struct copy_record record = good_copy();
            record.copy.registers[reg] = values[i];
            record.copy.stack_start_avma = values[sizeof(values) / sizeof(values[0]) - 1 - i];
            record.copy.known = reg % 2 ? UINT32_MAX : 0;
            record.copy.root_bytes = (uint32_t)reg / 4 * 8;
            record.copy.word_count = (uint32_t)reg / 8;
            record.copy.leaf_bytes -= record.copy.root_bytes + 8 * record.copy.word_count;
            record.copy.middle_bytes = 8 * (uint32_t)reg;
            record.copy.stack_end_avma = UINT64_MAX - (uint32_t)reg;
            take_copy(&record);
            expected++;
            assert_int_equal(at.summary.misses, expected);
        }
    expect_good_records_still_pass();
}

/* Else a program of another user writes any text into the file. */
static void frames_that_are_no_user_addresses_get_into_no_file(void **state)
{
    (void)state;
    static const uint64_t values[] = {UINT64_C(1) << 47, SYNTHETIC_BASE + 8,
                                      UINT64_C(0x35353264652d6873), UINT64_C(0xffffffffff600000),
                                      UINT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        struct stack_record stack = good_record();
        stack.frames[i % 4] = values[i];
        put(&stack, sizeof(stack));
        stack.header.kind = RECORD_CHECK;
        put(&stack, sizeof(stack));
        drain();
        struct copy_record copy = good_copy();
        copy.stack.frame_count = 1;
        copy.words[0] = values[i];
        copy.copy.leaf_bytes = 56;
        take_copy(&copy);
        copy = good_copy();
        copy.copy.registers[16] = values[i];
        take_copy(&copy);
        assert_int_equal(damaged(), 4 * i + 4);
        assert_int_equal(at.summary.samples, i);
        expect_good_records_still_pass();
    }
}

/* The one below is, so is what was walked: the stack ends there. */
static void the_highest_user_address_is_one(void **state)
{
    (void)state;
    struct stack_record record = good_record();
    record.frames[3] = (UINT64_C(1) << 47) - 1;
    put(&record, sizeof(record));
    struct copy_record copy = good_copy();
    copy.stack.frame_count = 1;
    copy.words[0] = 0x401000;
    copy.copy.leaf_bytes = 56;
    copy.copy.registers[16] = UINT64_MAX;
    take_copy(&copy);
    assert_int_equal(damaged(), 0);
    assert_int_equal(at.summary.samples, 2);
}

static void a_start_routine_that_is_no_user_address_is_counted(void **state)
{
    (void)state;
    struct {
        struct record_header header;
        struct record_exit last;
    } record = {.header = {.bytes = sizeof(record), .kind = RECORD_EXIT, .weight_ns = 1000},
                .last = {.start_avma = UINT64_C(0x35353264652d6873)}};
    put(&record, sizeof(record));
    drain();
    assert_int_equal(damaged(), 1);
    assert_int_equal(at.summary.cpu_seen_ns, 0);
}

static void weights_that_nobody_can_have_used_are_counted(void **state)
{
    (void)state;
    struct stack_record record = good_record();
    record.header.weight_ns = UINT64_C(3600) * 1000000000;
    put(&record, sizeof(record));
    record.header.weight_ns = UINT64_MAX;
    put(&record, sizeof(record));
    drain();
    assert_int_equal(damaged(), 2);
    assert_int_equal(at.summary.cpu_seen_ns, 0);
    expect_good_records_still_pass();
}

/* The recorded thread, with the ids of this one: its name in /proc is the test's. */
static struct thread *thread_of_this_test(void)
{
    struct process *process = process_table_at(&at.collector->processes, 0);
    thread_table_find_new(&at.collector->threads, process);
    struct thread *thread = thread_of_slot(process, THREAD);
    process->pid = getpid();
    thread->tid = gettid();
    return thread;
}

static void names_are_read_again_after_cpu_time(void **state)
{
    (void)state;
    char before[16];
    prctl(PR_GET_NAME, before);
    struct thread *thread = thread_of_this_test();
    prctl(PR_SET_NAME, "one");
    thread_refresh_name(&at.collector->threads, thread);
    assert_string_equal(thread->name, "one");
    prctl(PR_SET_NAME, "two");
    uint64_t wait_ns = thread->name_wait_ns;
    thread_refresh_name(&at.collector->threads, thread);
    assert_string_equal(thread->name, "one");
    assert_int_equal(thread->name_wait_ns, wait_ns);
    thread->process->account.last_cpu_ns++;
    thread_refresh_name(&at.collector->threads, thread);
    assert_string_equal(thread->name, "two");
    assert_true(thread->name_wait_ns > wait_ns);
    prctl(PR_SET_NAME, before);
}

static void no_name_is_read_ahead_of_records(void **state)
{
    (void)state;
    char before[16];
    prctl(PR_GET_NAME, before);
    struct thread *thread = thread_of_this_test();
    prctl(PR_SET_NAME, "later");
    struct stack_record record = good_record();
    put(&record, sizeof(record));
    thread_refresh_name(&at.collector->threads, thread);
    assert_string_not_equal(thread->name, "later");
    drain();
    assert_string_equal(thread->name, "later");
    prctl(PR_SET_NAME, before);
}

static void the_name_in_a_last_record_need_not_end(void **state)
{
    (void)state;
    struct {
        struct record_header header;
        struct record_exit last;
    } record = {.header = {.bytes = sizeof(record), .kind = RECORD_EXIT, .ticks = arch_ticks()}};
    memset(record.last.name, 'x', sizeof(record.last.name));
    put(&record, sizeof(record));
    drain();
    assert_string_equal((*at.collector->threads.active[0]).name, "xxxxxxxxxxxxxxx");
    expect_good_records_still_pass();
}

static void positions_that_make_no_sense_are_skipped(void **state)
{
    (void)state;
    drain();
    uint64_t start = at.ring.control->head;
    static const uint64_t moves[] = {1, 7, SESSION_RING_BYTES + 8, UINT64_C(1) << 40,
                                     UINT64_MAX / 2};
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        store_release(&at.ring.control->head, start + moves[i]);
        uint64_t lost = damaged();
        drain();
        assert_true(damaged() > lost);
        start = (start + moves[i]) & ~UINT64_C(7);
        at.ring.control->head = start;
        drain();
    }
    store_release(&at.ring.control->head, 0); /* backwards */
    drain();
    at.ring.head = 0;
    expect_good_records_still_pass();
}

/* Reading goes on somewhere in the ring, and never beyond it. */
static void a_base_that_the_target_moved_costs_records_only(void **state)
{
    (void)state;
    static const uint64_t bases[] = {
        1, 8, SESSION_RING_BYTES - 8, SESSION_RING_BYTES + 3, UINT64_C(1) << 63, UINT64_MAX};
    drain();
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        struct stack_record record = good_record();
        put(&record, sizeof(record));
        store_release(&at.ring.control->base, bases[i]);
        drain();
    }
    expect_good_records_still_pass();
}

/* The tail in shared memory is for the writer alone. */
static void a_tail_that_the_target_moved_is_not_believed(void **state)
{
    (void)state;
    drain();
    struct stack_record record = good_record();
    put(&record, sizeof(record));
    store_release(&at.ring.control->tail, UINT64_MAX - 7);
    drain();
    assert_int_equal(at.summary.samples, 1);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Records that are right but for a few bytes, at all places of the ring. */
static void nothing_in_a_ring_can_stop_the_collector(void **state)
{
    (void)state;
    uint32_t random = 12345;
    drain();
    for (int round = 0; round < 3000; round++) {
        uint64_t start = at.ring.control->head;
        at.ring.control->tail = start - 8; /* not empty: it would begin again */
        for (int i = 0; i < 8; i++) {
            struct stack_record stack = good_record();
            struct copy_record copy = good_copy();
            if (i % 2)
                put(&stack, sizeof(stack));
            else
                put(&copy, sizeof(copy));
        }
        uint64_t written = at.ring.control->head - start;
        for (uint32_t i = next_random(&random) % 4; i-- > 0;) {
            uint64_t place = (start + next_random(&random) % written) % SESSION_RING_BYTES;
            at.ring.data[place] = (uint8_t)next_random(&random);
        }
        drain();
        if (round % 50 == 0)
            pending_finish(&at.collector->pending, true);
    }
    pending_finish(&at.collector->pending, true);
    assert_in_range(at.summary.samples, 3000, 8 * 3000);
    expect_good_records_still_pass();
}

static void lost_events_are_counted_by_cause(void **state)
{
    (void)state;
    struct thread_slot *slot = &at.memory.shared->threads[THREAD].slot;
    for (uint32_t round = 1; round < 3; round++) {
        for (enum event_loss cause = 0; cause < EVENT_LOSSES; cause++)
            slot->lost_events[cause] = round * (10 + cause);
        drain();
        assert_int_equal(at.summary.lost_events[RECORD_LOST_RING_FULL], round * 10);
        assert_int_equal(at.summary.lost_events[RECORD_LOST_BUSY], round * 11);
        assert_int_equal(at.summary.lost_events[RECORD_LOST_AWAY], round * 12);
        assert_int_equal(record_lost_events(&at.summary), round * 33);
    }
    assert_int_equal(record_lost(&at.summary), 0); /* no samples */
}

/* A bucket is a quarter of an octave at most. */
static void percentiles_of_the_handler_are_exact_to_a_quarter(void **state)
{
    (void)state;
    for (uint64_t ticks = 64; ticks < UINT64_C(1) << 20; ticks += 1 + ticks / 50) {
        uint64_t end = handler_bucket_end(handler_bucket(ticks));
        assert_in_range(end, ticks + 1, ticks + ticks / 4 + 1);
    }
    assert_int_equal(handler_bucket(63), 0);
    assert_int_equal(handler_bucket(UINT64_MAX), HANDLER_BUCKETS - 1);
    struct drain *drain = &at.collector->drain;
    drain->handler_max_ticks = 1 << 30;
    drain->handler_ticks[handler_bucket(1000)] = 98;
    drain->handler_ticks[handler_bucket(50000)] = 1;
    drain->handler_ticks[handler_bucket(1 << 30)] = 1;
    uint64_t tick_ns = tsc_span_ns(&drain->round->clock, 1000000);
    assert_in_range(drain_handler_percentile_ns(drain, 50) * 1000, tick_ns - tick_ns / 100,
                    tick_ns + tick_ns / 4);
    assert_in_range(drain_handler_percentile_ns(drain, 99) * 20, tick_ns - tick_ns / 100,
                    tick_ns + tick_ns / 4);
    assert_int_equal(drain_handler_percentile_ns(drain, 100), drain_handler_max_ns(drain));
}

/* Full rings of a hostile process; its threads have ended. */
enum { FULL_RINGS = 32, PART_BYTES = 64 << 10 };

static void fill_rings(void)
{
    const struct record_header header = {.bytes = PART_BYTES, .kind = 99};
    struct process_memory *shared = at.memory.shared;
    for (uint32_t i = 0; i < FULL_RINGS; i++) {
        for (size_t place = 0; place < SESSION_RING_BYTES; place += PART_BYTES)
            memcpy(shared->rings[i] + place, &header, sizeof(header));
        shared->threads[i].slot = (struct thread_slot){.state = THREAD_ENDED, .tid = TID + i};
        shared->threads[i].control.head = SESSION_RING_BYTES;
    }
    shared->process.threads_started++;
    shared->process.threads_used = FULL_RINGS;
}

/* The bytes read so far; least: of one ring. */
static uint64_t read_bytes(uint64_t *least)
{
    uint64_t sum = 0;
    *least = UINT64_MAX;
    for (uint32_t i = 0; i < FULL_RINGS; i++) {
        const struct thread_memory *thread = &at.memory.shared->threads[i];
        uint64_t bytes =
            thread->slot.state == THREAD_FREE ? SESSION_RING_BYTES : thread->control.tail;
        sum += bytes;
        *least = bytes < *least ? bytes : *least;
    }
    return sum;
}

static void run_round(void)
{
    drain_begin_round(&at.collector->drain);
    drain_all(&at.collector->drain);
}

/* Each round reads some of each ring, and no thread is forgotten before its last record. */
static void full_rings_take_several_rounds(void **state)
{
    (void)state;
    uint64_t least, before = 0, rounds = 0;
    fill_rings();
    do {
        run_round();
        uint64_t bytes = read_bytes(&least);
        assert_in_range(bytes - before, 1, (4 << 20) + PART_BYTES);
        before = bytes;
        rounds++;
        assert_true(least >= PART_BYTES);
        assert_in_range(damaged(), bytes / PART_BYTES, bytes / PART_BYTES);
    } while (at.collector->drain.has_left && rounds < 100);
    assert_int_equal(before, (uint64_t)FULL_RINGS * SESSION_RING_BYTES);
    assert_in_range(rounds, 4, 8);
    run_round();
    assert_int_equal(at.collector->threads.active_count, 0);
}

/* Several looks of a round, one for each map that arrives, have the limit of one. */
static void further_looks_of_a_round_read_no_more(void **state)
{
    (void)state;
    uint64_t least;
    fill_rings();
    run_round();
    for (int i = 0; i < 100; i++)
        drain_all(&at.collector->drain);
    assert_in_range(read_bytes(&least), 1, (4 << 20) + PART_BYTES);
}

static void full_rings_of_a_process_delay_no_other_process(void **state)
{
    (void)state;
    struct own_memory memory = own_memory_make();
    const struct process process = {.pid = PID + 1,
                                    .stated_pid = PID + 1,
                                    .pid_fd = -1,
                                    .memory = own_memory_mapped(&memory, &at.session),
                                    .engine = ENGINE_PERF_TRAP};
    process_table_add(&at.collector->processes, &process);
    memory.shared->threads[0].slot = (struct thread_slot){.state = THREAD_ACTIVE, .tid = PID + 1};
    memory.shared->process.threads_started = memory.shared->process.threads_used = 1;
    at.ring = (struct ring){.control = &memory.shared->threads[0].control,
                            .data = memory.shared->rings[0]};
    fill_rings();
    for (int i = 0; i < 3; i++) {
        const struct stack_record record = good_record();
        put(&record, sizeof(record));
        run_round();
        assert_int_equal(at.summary.samples, i + 1);
        assert_true(at.collector->drain.has_left);
    }
    own_memory_free(&memory);
}

/* All of it in the last rounds of a recording. */
static void the_last_round_reads_everything(void **state)
{
    (void)state;
    uint64_t least;
    fill_rings();
    at.collector->drain.is_last = true;
    run_round();
    assert_int_equal(read_bytes(&least), (uint64_t)FULL_RINGS * SESSION_RING_BYTES);
    assert_false(at.collector->drain.has_left);
}

static struct process_map *take_map(uint64_t read_ns)
{
    struct process_map *map = calloc(1, sizeof(*map));
    assert_non_null(map);
    *map = (struct process_map){.read_ns = read_ns, .users = 1};
    process_maps_take(&at.collector->maps, map);
    return map;
}

/* Records left when a map arrives may be of code unloaded since. */
static void records_left_have_the_map_of_their_time(void **state)
{
    (void)state;
    const struct process *process = process_table_at(&at.collector->processes, 0);
    const struct process_map *first = take_map(1000);
    fill_rings();
    run_round();
    const struct process_map *second = take_map(2000);
    assert_ptr_equal(process_map_at(process, 1999), first);
    assert_ptr_equal(process_map_at(process, 2000), second);
    while (at.collector->drain.has_left)
        run_round();
    run_round();
    assert_ptr_equal(process_map_at(process, 1999), second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Memory for threads is bounded over all processes; the first threads of each process have room. */
static void many_threads_of_hostile_processes_take_no_more_memory(void **state)
{
    (void)state;
    struct process_memory *shared = at.memory.shared;
    struct process_table *processes = &at.collector->processes;
    for (uint32_t i = 0; i < 40; i++)
        shared->threads[i].slot = (struct thread_slot){.state = THREAD_ACTIVE, .tid = TID + i};
    shared->process.threads_started = 40;
    shared->process.threads_used = 40;
    processes->threads_kept = THREADS_KEPT_MAX;
    drain_all(&at.collector->drain);
    assert_int_equal(at.collector->threads.active_count, THREADS_KEPT_ALWAYS);
    assert_int_equal(at.summary.threads_without_slot, 40 - THREADS_KEPT_ALWAYS);
    shared->process.threads_started++;
    drain_all(&at.collector->drain);
    assert_int_equal(at.summary.threads_without_slot, 41 - THREADS_KEPT_ALWAYS);
    process_table_remove(processes, 0, 0);
    assert_int_equal(processes->threads_kept, THREADS_KEPT_MAX);
    at.collector->threads.active_count = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(good_records_become_samples),
        TEST(sizes_that_make_no_sense_skip_the_rest_of_the_ring),
        TEST(kinds_that_do_not_exist_are_counted),
        TEST(events_without_a_row_or_of_the_launcher_are_counted),
        TEST(a_creation_is_a_sample_of_the_creator_about_the_new_thread),
        TEST(the_slot_of_a_creator_gives_its_tid),
        TEST(events_of_threads_are_outside_of_the_cpu_account),
        TEST(objects_that_do_not_belong_to_the_event_are_counted),
        TEST(names_are_of_the_thread_in_the_slot),
        TEST(names_are_read_again_after_cpu_time),
        TEST(no_name_is_read_ahead_of_records),
        TEST(frame_counts_beyond_the_record_are_counted),
        TEST(records_shorter_than_their_kind_are_counted),
        TEST(copies_whose_sizes_do_not_add_up_are_counted),
        TEST(root_ends_that_cannot_be_are_counted),
        TEST(copies_with_absurd_registers_give_a_leaf),
        TEST(frames_that_are_no_user_addresses_get_into_no_file),
        TEST(the_highest_user_address_is_one),
        TEST(a_start_routine_that_is_no_user_address_is_counted),
        TEST(weights_that_nobody_can_have_used_are_counted),
        TEST(the_name_in_a_last_record_need_not_end),
        TEST(positions_that_make_no_sense_are_skipped),
        TEST(a_base_that_the_target_moved_costs_records_only),
        TEST(a_tail_that_the_target_moved_is_not_believed),
        TEST(lost_events_are_counted_by_cause),
        TEST(percentiles_of_the_handler_are_exact_to_a_quarter),
        TEST(nothing_in_a_ring_can_stop_the_collector),
        TEST(many_threads_of_hostile_processes_take_no_more_memory),
        TEST(full_rings_take_several_rounds),
        TEST(further_looks_of_a_round_read_no_more),
        TEST(full_rings_of_a_process_delay_no_other_process),
        TEST(the_last_round_reads_everything),
        TEST(records_left_have_the_map_of_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
