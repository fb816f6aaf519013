/* SPDX-License-Identifier: MIT */
/*
 * The rings as a hostile or broken target may leave them. There is no target here: the test writes into
 * the shared memory itself, and runs the collector's steps on its own thread.
 */
#include "arch/own.h"
#include "quiet_collector.h"

#include "wire/atomic.h"

#include <string.h>

enum { THREAD = 7 };

/* A process that was answered before, without a map under way. */
static struct process *add_process(struct fixture *fixture)
{
    struct collector *collector = fixture->collector;
    const struct process process = {.pid = 4711,
                                    .stated_pid = 4711,
                                    .pid_fd = -1,
                                    .memory =
                                        own_memory_mapped(&fixture->memory, &fixture->session),
                                    .engine = ENGINE_TIMER,
                                    .start_ns = round_first_ns(&collector->round)};
    return process_table_add(&collector->processes, &process);
}

static struct thread_memory *thread_of(struct fixture *fixture)
{
    return &fixture->memory.shared->threads[THREAD];
}

static struct thread_slot *add_thread(struct fixture *fixture, enum thread_slot_state state)
{
    struct thread_slot *slot = &thread_of(fixture)->slot;
    slot->tid = 4712;
    slot->state = state;
    fixture->memory.shared->process.threads_used = THREAD + 1;
    fixture->memory.shared->process.threads_started++;
    return slot;
}

/* One record at the start of the ring, as its thread would have committed it. */
static void put(struct fixture *fixture, const void *record, size_t bytes, uint64_t head)
{
    memcpy(fixture->memory.shared->rings[THREAD], record, bytes);
    thread_of(fixture)->control.head = head;
}

static uint64_t lost(const struct fixture *fixture)
{
    return fixture->summary.lost[RECORD_LOST_OTHER];
}

struct one_frame {
    struct record_header header;
    struct record_stack stack;
    uint64_t frames[1];
};

static struct one_frame good_record(void)
{
    return (struct one_frame){
        .header = {.bytes = sizeof(struct one_frame),
                   .kind = RECORD_STACK,
                   .ticks = arch_ticks(),
                   .weight_ns = 1000000},
        .stack = {.frame_count = 1, .end = WALK_FOREIGN},
        .frames = {0x401000},
    };
}

static void a_good_record_is_one_sample(void **state)
{
    struct fixture *fixture = *state;
    struct one_frame record = good_record();
    add_process(fixture);
    add_thread(fixture, THREAD_ACTIVE);
    put(fixture, &record, sizeof(record), sizeof(record));
    drain_all(&fixture->collector->drain);
    assert_int_equal(fixture->summary.samples, 1);
    assert_int_equal(fixture->summary.cpu_seen_ns, 1000000);
    assert_int_equal(lost(fixture), 0);
    assert_int_equal(thread_of(fixture)->control.tail, sizeof(record));
}

static void set_tail(struct fixture *fixture, uint64_t tail)
{
    thread_table_find_new(&fixture->collector->threads,
                          process_table_at(&fixture->collector->processes, 0));
    fixture->collector->threads.active[0]->reader.tail = tail;
}

/* The ring is skipped to its head, the loss counted, and the next record read. */
static void is_skipped(struct fixture *fixture, const struct one_frame *record, uint64_t head)
{
    uint64_t before = lost(fixture);
    struct ring_control *control = &thread_of(fixture)->control;
    set_tail(fixture, 0);
    put(fixture, record, sizeof(*record), head);
    drain_all(&fixture->collector->drain);
    assert_int_equal(fixture->summary.samples, 0);
    assert_int_equal(lost(fixture), before + 1);
    assert_int_equal(control->tail, head);
}

static void a_length_that_cannot_be_is_skipped(void **state)
{
    struct fixture *fixture = *state;
    static const uint32_t lengths[] = {0, 1, 8, 16, 44, 47, 56, 1u << 18, 1u << 31, UINT32_MAX};
    add_process(fixture);
    add_thread(fixture, THREAD_ACTIVE);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct one_frame record = good_record();
        record.header.bytes = lengths[i];
        is_skipped(fixture, &record, sizeof(record));
    }
}

static void a_head_that_cannot_be_is_followed(void **state)
{
    struct fixture *fixture = *state;
    struct one_frame record = good_record();
    static const uint64_t heads[] = {SESSION_RING_BYTES + 8, UINT64_MAX, UINT64_MAX - 7,
                                     1ull << 40};
    add_process(fixture);
    add_thread(fixture, THREAD_ACTIVE);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        is_skipped(fixture, &record, heads[i]);
    /* And backwards. */
    is_skipped(fixture, &record, UINT64_MAX - 4096);
    set_tail(fixture, 4096);
    thread_of(fixture)->control.head = 48;
    drain_all(&fixture->collector->drain);
    assert_int_equal(thread_of(fixture)->control.tail, 48);
    assert_int_equal(fixture->summary.samples, 0);
}

static void more_frames_than_the_record_holds_are_no_sample(void **state)
{
    struct fixture *fixture = *state;
    static const uint32_t counts[] = {2, RECORD_FRAMES_MAX, RECORD_FRAMES_MAX + 1, UINT32_MAX};
    add_process(fixture);
    add_thread(fixture, THREAD_ACTIVE);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct one_frame record = good_record();
        record.stack.frame_count = counts[i];
        set_tail(fixture, 0);
        put(fixture, &record, sizeof(record), sizeof(record));
        drain_all(&fixture->collector->drain);
        assert_int_equal(lost(fixture), i + 1);
    }
    assert_int_equal(fixture->summary.samples, 0);
}

static void a_weight_beyond_the_clock_is_lost(void **state)
{
    struct fixture *fixture = *state;
    struct one_frame record = good_record();
    record.header.weight_ns = UINT64_MAX / 2;
    add_process(fixture);
    add_thread(fixture, THREAD_ACTIVE);
    put(fixture, &record, sizeof(record), sizeof(record));
    drain_all(&fixture->collector->drain);
    assert_int_equal(lost(fixture), 1);
    assert_int_equal(fixture->summary.cpu_seen_ns, 0);
}

static void nothing_happened_before_the_recording_or_after_now(void **state)
{
    struct fixture *fixture = *state;
    const struct round *round = &fixture->collector->round;
    assert_int_equal(round_time_ns(round, 0), round->clock.first.ns);
    uint64_t far = round_time_ns(round, arch_ticks() + 1000 * tsc_per_second());
    assert_true(far <= monotonic_ns());
    assert_true(far >= round->now_ns);
    assert_true(round_time_ns(round, UINT64_MAX) <= monotonic_ns());
}

static void threads_that_came_just_before_the_end_are_drained(void **state)
{
    struct fixture *fixture = *state;
    struct one_frame record = good_record();
    struct process *process = add_process(fixture);
    struct thread_slot *slot = add_thread(fixture, THREAD_ACTIVE);
    put(fixture, &record, sizeof(record), sizeof(record));
    process_end_program(&fixture->collector->watch, process);
    assert_int_equal(fixture->summary.samples, 1);
    assert_int_equal(slot->state, THREAD_FREE);
}

static int count_mappings_of_memories(void)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps))
        count += strstr(line, "/memfd:" SESSION_MEMORY_NAME) != NULL;
    fclose(maps);
    return count;
}

/* Samples of more threads than are mapped at first, and after another thread has used the slot.
 * The mappings for all threads are few: vm.max_map_count limits them for all processes together. */
static void every_thread_slot_has_a_ring(void **state)
{
    struct fixture *fixture = *state;
    const int mappings = count_mappings_of_memories();
    struct process_memory *shared = fixture->memory.shared;
    struct one_frame record = good_record();
    struct process *process = add_process(fixture);
    for (int round = 1; round <= 2; round++) {
        for (uint32_t i = SESSION_THREADS; i-- > 0;) {
            shared->threads[i].slot = (struct thread_slot){.state = THREAD_ENDED, .tid = 4712u + i};
            memcpy(shared->rings[i], &record, sizeof(record));
            shared->threads[i].control.head = sizeof(record);
        }
        shared->process.threads_used = SESSION_THREADS;
        shared->process.threads_started++;
        drain_process(&fixture->collector->drain, process);
        assert_int_equal(fixture->summary.samples, round * (int)SESSION_THREADS);
        assert_int_equal(process->threads, 0);
    }
    assert_int_equal(lost(fixture), 0);
    assert_true(count_mappings_of_memories() - mappings <= (int)TARGET_MEMORY_CHUNKS + 1);
}

/* The number of used slots may be anything. */
static void more_thread_slots_than_there_are_are_not_read(void **state)
{
    struct fixture *fixture = *state;
    struct process *process = add_process(fixture);
    fixture->memory.shared->process.threads_used = UINT32_MAX;
    fixture->memory.shared->process.threads_started = UINT32_MAX;
    drain_process(&fixture->collector->drain, process);
    assert_int_equal(process->threads, 0);
}

struct copied_frame {
    struct record_header header;
    struct record_stack stack;
    struct record_copy copy;
};

/* Else a program that jumps into nowhere has its mappings read again as fast as that can be done. */
static void mappings_that_told_nothing_new_are_not_read_again_in_the_same_round(void **state)
{
    struct fixture *fixture = *state;
    struct collector *collector = fixture->collector;
    struct process *process = add_process(fixture);
    struct copied_frame record = {
        .header = {.bytes = sizeof(record), .kind = RECORD_COPY},
        .copy = {.known = 1u << 6 | 1u << 7 | 1u << 16},
    };
    process->map_pause_ns = 1000000000;
    const struct raw_sample raw = {.process = process,
                                   .tid = 4712,
                                   .time_ns = collector->round.now_ns,
                                   .record = (const uint8_t *)&record,
                                   .bytes = sizeof(record)};
    pending_take(&collector->pending, &raw);
    pending_finish(&collector->pending, false);
    assert_int_equal(process->map_requests, 1);
    process->map_requests = 0;
    pending_finish(&collector->pending, false);
    assert_int_equal(process->map_requests, 0);
    collector->round.now_ns += process->map_pause_ns + 1;
    pending_finish(&collector->pending, false);
    assert_int_equal(process->map_requests, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_good_record_is_one_sample),
        TEST(a_length_that_cannot_be_is_skipped),
        TEST(a_head_that_cannot_be_is_followed),
        TEST(more_frames_than_the_record_holds_are_no_sample),
        TEST(a_weight_beyond_the_clock_is_lost),
        TEST(nothing_happened_before_the_recording_or_after_now),
        TEST(threads_that_came_just_before_the_end_are_drained),
        TEST(every_thread_slot_has_a_ring),
        TEST(more_thread_slots_than_there_are_are_not_read),
        TEST(mappings_that_told_nothing_new_are_not_read_again_in_the_same_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
