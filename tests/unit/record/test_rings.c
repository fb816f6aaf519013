/* SPDX-License-Identifier: MIT */
/*
 * The rings as a hostile or broken target may leave them. There is no target here: the test writes into
 * the shared memory itself, and runs the collector's steps on its own thread.
 */
#include "record/collector_parts.h"
#include "wire/atomic.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PROCESS = 3, THREAD = 7 };

struct fixture {
    struct session session;
    struct open_file_cache kept;
    struct record_options options;
    struct record_summary summary;
    struct collector *collector;
    FILE *file;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct session_config config = {.period_ns = 1000000, .kernel_interval_ns = 20000000};
    struct perfdata_config file_config = {.events = {{.name = "cpu-clock", .period = 1000000}}};
    struct error error = {""};
    assert_non_null(fixture);
    assert_int_equal(session_open(&fixture->session, &config, &error), 0);
    fixture->options.engine = RECORD_ENGINE_TIMER;
    struct collector *collector = calloc(1, sizeof(*collector));
    struct compiler *compiler;
    struct perfdata_writer *writer;
    assert_non_null(collector);
    assert_int_equal(compiler_start(&compiler, &fixture->session, &fixture->kept, &error), 0);
    fixture->file = tmpfile();
    assert_non_null(fixture->file);
    assert_int_equal(perfdata_writer_open(&writer, fileno(fixture->file), &file_config), 0);
    const struct collector_config parts = {.session = &fixture->session,
                                           .compiler = compiler,
                                           .writer = writer,
                                           .options = &fixture->options,
                                           .summary = &fixture->summary};
    assert_int_equal(collector_init(collector, &parts), 0);
    round_begin(&collector->round);
    fixture->collector = collector;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    struct compiler *compiler = fixture->collector->config.compiler;
    perfdata_writer_close(fixture->collector->config.writer);
    collector_free(fixture->collector);
    compiler_stop(compiler);
    open_file_cache_free(&fixture->kept);
    session_close(&fixture->session);
    record_summary_free(&fixture->summary);
    fclose(fixture->file);
    free(fixture);
    return 0;
}

static struct rings *rings_of(struct fixture *fixture)
{
    return fixture->session.rings;
}

/* A process that was answered before, without a map under way. */
static struct process *add_process(struct fixture *fixture)
{
    struct collector *collector = fixture->collector;
    const struct process process = {.pid = 4711,
                                    .stated_pid = 4711,
                                    .pid_fd = -1,
                                    .engine = ENGINE_TIMER,
                                    .start_ns = round_first_ns(&collector->round)};
    return process_table_add(&collector->processes, PROCESS, &process);
}

static struct thread_slot *add_thread(struct fixture *fixture, uint32_t process, uint32_t pid,
                                      enum thread_slot_state state)
{
    struct thread_slot *slot = &rings_of(fixture)->threads[THREAD];
    slot->process = process;
    slot->pid = pid;
    slot->tid = 4712;
    slot->state = state;
    rings_of(fixture)->header.threads_used = THREAD + 1;
    rings_of(fixture)->header.threads_started++;
    return slot;
}

/* One record at the start of the ring, as its thread would have committed it. */
static void put(struct fixture *fixture, const void *record, size_t bytes, uint64_t head)
{
    memcpy(rings_of(fixture)->data[THREAD], record, bytes);
    rings_of(fixture)->controls[THREAD].head = head;
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
                   .ticks = tsc_now(),
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
    add_thread(fixture, PROCESS, 4711, THREAD_ACTIVE);
    put(fixture, &record, sizeof(record), sizeof(record));
    drain_all(&fixture->collector->drain);
    assert_int_equal(fixture->summary.samples, 1);
    assert_int_equal(fixture->summary.cpu_seen_ns, 1000000);
    assert_int_equal(lost(fixture), 0);
    assert_int_equal(rings_of(fixture)->controls[THREAD].tail, sizeof(record));
}

/* The ring is skipped to its head, the loss counted, and the next record read. */
static void is_skipped(struct fixture *fixture, const struct one_frame *record, uint64_t head)
{
    uint64_t before = lost(fixture);
    struct ring_control *control = &rings_of(fixture)->controls[THREAD];
    fixture->collector->threads.threads[THREAD].reader.tail = 0;
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
    add_thread(fixture, PROCESS, 4711, THREAD_ACTIVE);
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
    add_thread(fixture, PROCESS, 4711, THREAD_ACTIVE);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        is_skipped(fixture, &record, heads[i]);
    /* And backwards. */
    is_skipped(fixture, &record, UINT64_MAX - 4096);
    fixture->collector->threads.threads[THREAD].reader.tail = 4096;
    rings_of(fixture)->controls[THREAD].head = 48;
    drain_all(&fixture->collector->drain);
    assert_int_equal(rings_of(fixture)->controls[THREAD].tail, 48);
    assert_int_equal(fixture->summary.samples, 0);
}

static void more_frames_than_the_record_holds_are_no_sample(void **state)
{
    struct fixture *fixture = *state;
    static const uint32_t counts[] = {2, RECORD_FRAMES_MAX, RECORD_FRAMES_MAX + 1, UINT32_MAX};
    add_process(fixture);
    add_thread(fixture, PROCESS, 4711, THREAD_ACTIVE);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct one_frame record = good_record();
        record.stack.frame_count = counts[i];
        fixture->collector->threads.threads[THREAD].reader.tail = 0;
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
    add_thread(fixture, PROCESS, 4711, THREAD_ACTIVE);
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
    uint64_t far = round_time_ns(round, tsc_now() + 1000 * tsc_per_second());
    assert_true(far <= monotonic_ns());
    assert_true(far >= round->now_ns);
    assert_true(round_time_ns(round, UINT64_MAX) <= monotonic_ns());
}

static void a_thread_of_a_process_that_cannot_be_is_not_adopted(void **state)
{
    struct fixture *fixture = *state;
    static const uint32_t processes[] = {SESSION_PROCESSES, 1u << 31, UINT32_MAX, PROCESS + 1};
    add_process(fixture);
    for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
        add_thread(fixture, processes[i], 4711, THREAD_ACTIVE);
        drain_all(&fixture->collector->drain);
        assert_int_equal(fixture->collector->threads.active_count, 0);
    }
    add_thread(fixture, PROCESS, 4710, THREAD_ACTIVE); /* right slot, wrong pid */
    drain_all(&fixture->collector->drain);
    assert_int_equal(fixture->collector->threads.active_count, 0);
}

static void the_slot_of_a_thread_that_nobody_follows_is_given_back(void **state)
{
    struct fixture *fixture = *state;
    struct thread_slot *slot = add_thread(fixture, PROCESS, 4711, THREAD_ENDED);
    rings_of(fixture)->controls[THREAD].head = 64;
    drain_all(&fixture->collector->drain);
    assert_int_equal(slot->state, THREAD_FREE);
    assert_int_equal(rings_of(fixture)->controls[THREAD].head, 0);
    assert_int_equal(fixture->collector->threads.threads_started, 1);
}

static void threads_that_came_just_before_the_end_are_drained(void **state)
{
    struct fixture *fixture = *state;
    struct one_frame record = good_record();
    struct process *process = add_process(fixture);
    struct thread_slot *slot = add_thread(fixture, PROCESS, 4711, THREAD_ACTIVE);
    put(fixture, &record, sizeof(record), sizeof(record));
    process_end_program(&fixture->collector->watch, process);
    assert_int_equal(fixture->summary.samples, 1);
    assert_int_equal(slot->state, THREAD_FREE);
}

static void a_slot_claimed_by_a_dead_process_is_given_back(void **state)
{
    struct fixture *fixture = *state;
    struct process *process = add_process(fixture);
    struct thread_slot *slot = add_thread(fixture, PROCESS, 4711, THREAD_CLAIMED);
    process_end_program(&fixture->collector->watch, process);
    assert_int_equal(slot->state, THREAD_CLAIMED);
    process_watch_find_ended(&fixture->collector->watch);
    assert_false(fixture->collector->processes.processes[PROCESS].in_use);
    assert_int_equal(slot->state, THREAD_FREE);
}

static struct process_slot *ask(struct fixture *fixture, pid_t pid)
{
    struct process_slot *slot = &rings_of(fixture)->processes[PROCESS];
    slot->pid = (uint32_t)pid;
    slot->start_ticks = UINT64_MAX;
    slot->start_cpu_ns = UINT64_MAX;
    /* No terminating zero anywhere. */
    memset(slot->executable, 'x', sizeof(slot->executable));
    slot->state = PROCESS_REQUESTED;
    rings_of(fixture)->header.processes_used = PROCESS + 1;
    rings_of(fixture)->header.doorbell++;
    handshake_answer(&fixture->collector->handshake);
    return slot;
}

static void the_pid_of_a_stranger_is_dismissed(void **state)
{
    struct fixture *fixture = *state;
    const struct process_verdict *verdict = &fixture->session.tables->verdicts[PROCESS];
    static const pid_t strangers[] = {1, 0, -1, INT32_MIN};
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        struct process_slot *slot = ask(fixture, strangers[i]);
        assert_int_equal(slot->state, PROCESS_ANSWERED);
        assert_int_equal(verdict->engine, ENGINE_NONE);
        assert_int_equal(verdict->pid, (uint32_t)strangers[i]);
        assert_false(fixture->collector->processes.processes[PROCESS].in_use);
        slot->state = PROCESS_DISMISSED; /* it has read that */
        rings_of(fixture)->header.doorbell++;
        handshake_answer(&fixture->collector->handshake);
        assert_int_equal(slot->state, PROCESS_FREE);
        assert_int_equal(fixture->summary.not_followed.count, i + 1);
    }
    assert_int_equal(fixture->summary.cpu_seen_ns, 0);
}

static pid_t pid_of_nobody(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return pid;
}

static void look_twice(struct collector *collector)
{
    for (int i = 0; i < 2; i++) {
        collector->round.now_ns += 2000000000;
        handshake_free_abandoned(&collector->handshake);
    }
}

/* Else a program that kills a thousand children while they start has no slot left for those that follow. */
static void the_slots_of_a_process_killed_at_its_start_are_given_back(void **state)
{
    struct fixture *fixture = *state;
    static const enum process_state states[] = {PROCESS_CLAIMED, PROCESS_REQUESTED};
    pid_t pid = pid_of_nobody();
    struct process_slot *slot = ask(fixture, pid);
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct thread_slot *thread = add_thread(fixture, PROCESS, (uint32_t)pid, THREAD_ACTIVE);
        slot->state = states[i];
        rings_of(fixture)->header.doorbell++;
        handshake_answer(&fixture->collector->handshake);
        look_twice(fixture->collector);
        assert_int_equal(slot->state, PROCESS_FREE);
        assert_int_equal(thread->state, THREAD_FREE);
    }
    assert_int_equal(fixture->summary.not_followed.count, 0);
}

static void the_slot_of_a_process_that_takes_long_to_start_is_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct process_slot *slot = ask(fixture, getppid());
    assert_int_equal(slot->state, PROCESS_ANSWERED); /* and not read */
    look_twice(fixture->collector);
    assert_int_equal(slot->state, PROCESS_ANSWERED);
}

/* Where samplers have it. */
static struct process_mark *make_mark(int kind)
{
    void *mark = mmap(NULL, 4096, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(mark, MAP_FAILED);
    return mark;
}

static void ask_with_mark_at(struct fixture *fixture, pid_t pid, struct process_mark *mark)
{
    *mark = (struct process_mark){.token = fixture->session.token, .process = PROCESS};
    rings_of(fixture)->processes[PROCESS].mark_avma = (uint64_t)(uintptr_t)mark;
    ask(fixture, pid);
    mark->token = 0;
}

/* As this very process, under any pid. */
static void ask_with_mark(struct fixture *fixture, pid_t pid)
{
    struct process_mark *mark = make_mark(MAP_PRIVATE);
    ask_with_mark_at(fixture, pid, mark);
    munmap(mark, 4096);
}

/* A file's pages and shared memory hold what others write. */
static void a_mark_outside_of_private_memory_is_none(void **state)
{
    struct fixture *fixture = *state;
    static struct process_mark in_file = {.unused = 1};
    struct process_mark *shared = make_mark(MAP_SHARED);
    ask_with_mark_at(fixture, getpid(), &in_file);
    assert_false(fixture->collector->processes.processes[PROCESS].in_use);
    ask_with_mark_at(fixture, getpid(), shared);
    assert_false(fixture->collector->processes.processes[PROCESS].in_use);
    assert_int_equal(fixture->session.tables->verdicts[PROCESS].engine, ENGINE_NONE);
    munmap(shared, 4096);
}

/* A child, or one that was left to init, with the mark where this process had it for a moment. */
static pid_t start_marked(struct fixture *fixture, bool maps_rings, bool is_left)
{
    int ready[2];
    struct process_mark *mark = make_mark(MAP_PRIVATE);
    *mark = (struct process_mark){.token = fixture->session.token, .process = PROCESS};
    rings_of(fixture)->processes[PROCESS].mark_avma = (uint64_t)(uintptr_t)mark;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        pid_t first = getpid();
        if (is_left && fork() != 0)
            _exit(0);
        while (is_left && getppid() == first)
            usleep(1000);
        if (maps_rings)
            mmap(NULL, sizeof(struct rings), PROT_READ | PROT_WRITE, MAP_SHARED,
                 fixture->session.rings_fd, 0);
        pid = getpid();
        (void)!write(ready[1], &pid, sizeof(pid));
        pause();
    }
    munmap(mark, 4096);
    if (is_left)
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(read(ready[0], &pid, sizeof(pid)), sizeof(pid));
    close(ready[0]);
    close(ready[1]);
    return pid;
}

/* A process that is sent the mark, and keeps it where the sender expects it, belongs to no
 * recording. */
static void a_process_is_known_by_its_rings_and_its_ancestors_too(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        bool maps_rings, is_left, is_member;
    } cases[] = {{false, false, false}, {true, true, false}, {true, false, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pid_t pid = start_marked(fixture, cases[i].maps_rings, cases[i].is_left);
        ask(fixture, pid);
        assert_int_equal(fixture->collector->processes.processes[PROCESS].in_use,
                         cases[i].is_member);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

/* Else in pid namespaces, where every process has another pid, one is taken for another. */
static void a_process_is_known_by_its_mark_and_not_by_the_pid_that_it_states(void **state)
{
    struct fixture *fixture = *state;
    const struct process *process = &fixture->collector->processes.processes[PROCESS];
    const struct process_verdict *verdict = &fixture->session.tables->verdicts[PROCESS];
    ask_with_mark(fixture, getppid());
    assert_true(process->in_use);
    assert_int_equal(process->pid, getpid());
    assert_int_equal(process->parent_pid, getppid());
    assert_int_equal(process->stated_pid, getppid());
    assert_int_equal(verdict->pid, getppid());
}

/* The pid of one that has the mark is believed; what it says of its past is not. */
static void what_a_process_says_of_its_past_is_held_against_the_clocks(void **state)
{
    struct fixture *fixture = *state;
    const struct process *process = &fixture->collector->processes.processes[PROCESS];
    ask_with_mark(fixture, getpid());
    assert_int_equal(rings_of(fixture)->processes[PROCESS].state, PROCESS_ANSWERED);
    assert_true(process->in_use);
    assert_true(process->start_ns <= monotonic_ns());
    assert_true(process->account.start_cpu_ns < 120000000000); /* the test's time limit */
    assert_true(fixture->summary.cpu_seen_ns < 120000000000);
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
        TEST(a_thread_of_a_process_that_cannot_be_is_not_adopted),
        TEST(the_slot_of_a_thread_that_nobody_follows_is_given_back),
        TEST(threads_that_came_just_before_the_end_are_drained),
        TEST(a_slot_claimed_by_a_dead_process_is_given_back),
        TEST(the_pid_of_a_stranger_is_dismissed),
        TEST(mappings_that_told_nothing_new_are_not_read_again_in_the_same_round),
        TEST(the_slots_of_a_process_killed_at_its_start_are_given_back),
        TEST(the_slot_of_a_process_that_takes_long_to_start_is_its_own),
        TEST(a_process_is_known_by_its_mark_and_not_by_the_pid_that_it_states),
        TEST(a_mark_outside_of_private_memory_is_none),
        TEST(a_process_is_known_by_its_rings_and_its_ancestors_too),
        TEST(what_a_process_says_of_its_past_is_held_against_the_clocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
