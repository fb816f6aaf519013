/* SPDX-License-Identifier: MIT */
/* Entries enter the file after the start of their thread and program, with the mappings of their stacks. */
#include "record/off_cpu/file/off_writer.h"

#include "perfdata/reader.h"
#include "record/off_cpu/file/wait_frames.h"
#include "wire/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
enum { PID = 100, CODE = 0x5000 };

struct world {
    int fd;
    struct perfdata_writer *file;
    struct off_queue queue;
    struct off_writer writer;
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    const struct perfdata_config config = {
        .events = {{.name = "cpu-clock", .period = MS},
                   [RECORD_EVENT_OFF_CPU] = {.name = "off-cpu", .unit = "ns"}}};
    world->fd = memfd_create("rec.data", MFD_CLOEXEC);
    off_queue_open(&world->queue);
    *state = world;
    if (perfdata_writer_open(&world->file, world->fd, &config) != 0)
        return -1;
    off_writer_open(&world->writer, world->file);
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    off_writer_close(&world->writer);
    perfdata_writer_close(world->file);
    off_queue_close(&world->queue);
    close(world->fd);
    free(world);
    return 0;
}

static void put_stack(struct world *world, uint64_t time_ns, uint64_t since_ns, uint32_t count)
{
    const uint64_t frames[] = {wait_frame_avma(WAIT_SLEEP), CODE + 16,
                               synthetic_avma(SYNTHETIC_TRUNCATED)};
    const struct off_entry entry = {.kind = OFF_ENTRY_SAMPLE,
                                    .pid = PID,
                                    .tid = PID,
                                    .time_ns = time_ns,
                                    .since_ns = since_ns,
                                    .program_ns = since_ns,
                                    .sample = {.weight_ns = 5 * MS, .frame_count = count}};
    off_queue_put(&world->queue, &entry, frames, count * sizeof(frames[0]));
}

static void put_sample(struct world *world, uint64_t time_ns, uint64_t since_ns)
{
    put_stack(world, time_ns, since_ns, 2);
}

static void put_mapping(struct world *world, uint64_t since_ns)
{
    const struct off_entry entry = {
        .kind = OFF_ENTRY_MAPPING,
        .pid = PID,
        .tid = PID,
        .time_ns = since_ns,
        .since_ns = since_ns,
        .program_ns = since_ns,
        .mapping = {.start_avma = CODE, .end_avma = CODE + 4096, .build_id_bytes = 20}};
    off_queue_put(&world->queue, &entry, "/bin/odd name", sizeof("/bin/odd name"));
}

static void put_long_mapping(struct world *world, pid_t pid, unsigned number)
{
    char path[3600];
    memset(path, 'x', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    const struct off_entry entry = {
        .kind = OFF_ENTRY_MAPPING,
        .pid = pid,
        .tid = pid,
        .time_ns = 1000 * MS,
        .mapping = {.start_avma = CODE * (1 + number), .end_avma = CODE * (1 + number) + 1}};
    off_queue_put(&world->queue, &entry, path, sizeof(path));
}

static void put_program(struct world *world, uint64_t time_ns)
{
    const struct off_entry entry = {
        .kind = OFF_ENTRY_PROGRAM, .pid = PID, .tid = PID, .time_ns = time_ns};
    off_queue_put(&world->queue, &entry, NULL, 0);
}

static void write_start(struct world *world, uint64_t time_ns)
{
    const struct perfdata_task task = {.pid = PID, .tid = PID, .parent_pid = 1, .time_ns = time_ns};
    struct perfdata_task fork = task;
    fork.time_ns--;
    if (!file_task_find(&world->writer.tasks, PID))
        perfdata_write_fork(world->file, &fork);
    perfdata_write_comm(world->file, &task, "name", true);
}

static void put_thread_sample(struct world *world, pid_t tid, uint64_t time_ns)
{
    const uint64_t frames[] = {wait_frame_avma(WAIT_SLEEP), CODE + 16};
    const struct off_entry entry = {.kind = OFF_ENTRY_SAMPLE,
                                    .pid = PID,
                                    .tid = tid,
                                    .time_ns = time_ns,
                                    .since_ns = 900 * MS,
                                    .program_ns = 900 * MS,
                                    .sample = {.weight_ns = 5 * MS, .frame_count = 2}};
    off_queue_put(&world->queue, &entry, frames, sizeof(frames));
}

/* The records in the order of the file; only samples and mappings. */
struct seen {
    size_t samples, mappings, waits, marks, program; /* mappings of synthetic frames, the program */
    uint64_t sample_ns[8], mapping_ns;
};

static struct seen read_back(struct world *world)
{
    struct seen seen = {0};
    struct error error;
    struct perfdata_reader *reader;
    struct perfdata_event event;
    assert_int_equal(perfdata_finish(world->file), 0);
    assert_int_equal(perfdata_reader_open(&reader, world->fd, "rec.data", &error), 0);
    while (perfdata_next(reader, &event) > 0) {
        if (event.kind == PERFDATA_SAMPLE && seen.samples < 8) {
            assert_string_equal(perfdata_attr(reader, event.attr_index)->name, "off-cpu");
            seen.sample_ns[seen.samples++] = event.time_ns;
        } else if (event.kind == PERFDATA_MAPPING) {
            seen.mappings++;
            seen.waits += strcmp(event.path, "[waiting: sleep]") == 0;
            seen.marks += strcmp(event.path, "[truncated]") == 0;
            seen.program += strcmp(event.path, "/bin/odd name") == 0;
            seen.mapping_ns = event.time_ns;
        }
    }
    perfdata_reader_close(reader);
    return seen;
}

static void a_sample_waits_for_the_start_of_its_thread(void **state)
{
    struct world *world = *state;
    put_mapping(world, 1000 * MS);
    put_sample(world, 1001 * MS, 1000 * MS);
    off_writer_round(&world->writer, &world->queue, 1100 * MS, false);
    assert_int_equal(world->writer.samples, 0);
    write_start(world, 1005 * MS); /* the sampler joined later than the kernel's exec */
    off_writer_round(&world->writer, &world->queue, 1200 * MS, false);
    assert_int_equal(world->writer.samples, 1);
    struct seen seen = read_back(world);
    assert_int_equal(seen.sample_ns[0], 1005 * MS);
    assert_int_equal(seen.mapping_ns, 1005 * MS);
    assert_int_equal(seen.waits, 1);
    assert_int_equal(seen.program, 1);
}

static void a_thread_unknown_to_the_engine_is_written_all_the_same(void **state)
{
    struct world *world = *state;
    put_sample(world, 1001 * MS, 1000 * MS);
    put_sample(world, 9001 * MS, 1000 * MS);
    off_writer_round(&world->writer, &world->queue, 1900 * MS, false);
    assert_int_equal(world->writer.samples, 0);
    off_writer_round(&world->writer, &world->queue, 2100 * MS, false);
    assert_int_equal(world->writer.samples, 1);
    off_writer_round(&world->writer, &world->queue, 9002 * MS, true);
    struct seen seen = read_back(world);
    assert_int_equal(seen.samples, 2);
    assert_int_equal(seen.sample_ns[1], 9001 * MS);
}

static void frames_are_mapped_once_for_each_program(void **state)
{
    struct world *world = *state;
    write_start(world, 1000 * MS);
    put_mapping(world, 1000 * MS);
    put_sample(world, 1001 * MS, 1000 * MS);
    put_sample(world, 1002 * MS, 1000 * MS);
    off_writer_round(&world->writer, &world->queue, 1100 * MS, false);
    put_program(world, 2000 * MS);
    put_sample(world, 2001 * MS, 2000 * MS);
    off_writer_round(&world->writer, &world->queue, 2100 * MS, false);
    assert_int_equal(world->writer.samples, 2); /* the file lacks the exec */
    write_start(world, 2010 * MS);
    off_writer_round(&world->writer, &world->queue, 2200 * MS, false);
    struct seen seen = read_back(world);
    assert_int_equal(seen.samples, 3);
    assert_int_equal(seen.sample_ns[2], 2010 * MS);
    assert_int_equal(seen.waits, 2);
    assert_int_equal(seen.program, 1); /* not of the second program */
}

/* The exec is in the file before the samples of the program before it. */
static void samples_from_before_an_exec_keep_their_time(void **state)
{
    struct world *world = *state;
    write_start(world, 1000 * MS);
    put_sample(world, 1001 * MS, 1000 * MS);
    put_program(world, 1500 * MS);
    put_sample(world, 1501 * MS, 1500 * MS);
    write_start(world, 1510 * MS);
    off_writer_round(&world->writer, &world->queue, 1600 * MS, false);
    struct seen seen = read_back(world);
    assert_int_equal(seen.sample_ns[0], 1001 * MS);
    assert_int_equal(seen.sample_ns[1], 1510 * MS);
    assert_int_equal(seen.waits, 2);
}

/* The engine starts another entry for the same program: its mappings are dropped by readers. */
static void a_later_start_of_the_same_program_has_its_mappings(void **state)
{
    struct world *world = *state;
    write_start(world, 1000 * MS);
    put_mapping(world, 1000 * MS);
    put_sample(world, 1001 * MS, 1000 * MS);
    off_writer_round(&world->writer, &world->queue, 1100 * MS, false);
    write_start(world, 1050 * MS);
    put_sample(world, 1200 * MS, 1000 * MS);
    off_writer_round(&world->writer, &world->queue, 1300 * MS, false);
    struct seen seen = read_back(world);
    assert_int_equal(seen.waits, 2);
    assert_int_equal(seen.program, 2);
}

/* The next process with the id is in the file before the last samples of the ended one. */
static void a_pid_used_again_has_the_waits_and_mappings_of_one_process(void **state)
{
    struct world *world = *state;
    const struct perfdata_task end = {.pid = PID, .tid = PID, .time_ns = 1300 * MS};
    const struct perfdata_task next = {
        .pid = PID, .tid = PID, .parent_pid = 1, .time_ns = 1302 * MS};
    write_start(world, 1000 * MS);
    put_mapping(world, 1000 * MS);
    put_sample(world, 1001 * MS, 1000 * MS);
    off_writer_round(&world->writer, &world->queue, 1100 * MS, false);
    perfdata_write_exit(world->file, &end);
    perfdata_write_fork(world->file, &next);
    put_sample(world, 1290 * MS, 1000 * MS);
    put_sample(world, 1301 * MS, 1301 * MS);
    off_writer_round(&world->writer, &world->queue, 1310 * MS, false);
    struct seen seen = read_back(world);
    assert_int_equal(seen.samples, 3);
    assert_int_equal(seen.sample_ns[1], 1290 * MS);
    assert_int_equal(seen.sample_ns[2], 1302 * MS);
    assert_int_equal(seen.waits, 2);
    assert_int_equal(seen.program, 1);
}

static void the_end_of_a_process_is_that_of_its_last_thread(void **state)
{
    struct world *world = *state;
    write_start(world, 1000 * MS);
    for (int i = 0; i < 2; i++) {
        const struct off_entry end = {.kind = OFF_ENTRY_END,
                                      .pid = PID,
                                      .tid = PID + (pid_t)i,
                                      .time_ns = (1500 + (uint64_t)i) * MS,
                                      .ends_process = i == 1};
        off_queue_put(&world->queue, &end, NULL, 0);
        off_writer_round(&world->writer, &world->queue, 1600 * MS, false);
        assert_int_equal(off_writer_end_ns(&world->writer, PID, 1000 * MS), i ? 1501 * MS : 0);
    }
    assert_int_equal(off_writer_end_ns(&world->writer, PID, 1502 * MS), 0);
    assert_int_equal(off_writer_end_ns(&world->writer, PID + 1, 0), 0);
}

/* The start in the file is 2 ms older than the kernel's: the creator was preempted before clone(). */
static void the_start_of_an_ended_task_may_be_older_than_the_kernels(void **state)
{
    (void)state;
    struct file_tasks tasks = {0};
    file_tasks_note_start(&tasks, PID, true, 1000 * MS);
    const struct file_task *task = file_task_find(&tasks, PID);
    assert_int_equal(file_task_start_ns(task, 1002 * MS, 1010 * MS), 0); /* may be to come */
    file_tasks_note_start(&tasks, PID, true, 1030 * MS);
    file_tasks_note_end(&tasks, PID, 1025 * MS);
    assert_int_equal(file_task_start_ns(task, 1002 * MS, 1010 * MS), 1000 * MS);
    assert_int_equal(file_task_start_ns(task, 1024 * MS, 1025 * MS), 1030 * MS);
    assert_int_equal(file_task_start_ns(task, 1027 * MS, 1028 * MS), 1030 * MS);
    assert_int_equal(file_task_start_ns(task, 1032 * MS, 1040 * MS), 0);
    for (uint64_t i = 0; i < 2 * FILE_STARTS_MAX; i++)
        file_tasks_note_start(&tasks, PID, false, (1100 + i) * MS);
    assert_int_equal(task->life_ns, 1030 * MS);
    assert_int_equal(file_task_start_ns(task, 1115 * MS, 1116 * MS), 1114 * MS);
    assert_int_equal(file_task_current_ns(task, 1110 * MS + 1), 1110 * MS);
    file_tasks_free(&tasks);
}

static void stacks_that_end_early_have_a_mapping_of_the_mark(void **state)
{
    struct world *world = *state;
    write_start(world, 1000 * MS);
    put_sample(world, 1010 * MS, 1000 * MS);
    off_writer_round(&world->writer, &world->queue, 1100 * MS, false);
    put_stack(world, 1020 * MS, 1000 * MS, 3);
    put_stack(world, 1030 * MS, 1000 * MS, 3);
    off_writer_round(&world->writer, &world->queue, 1200 * MS, false);
    struct seen seen = read_back(world);
    assert_int_equal(seen.samples, 3);
    assert_int_equal(seen.marks, 1);
    assert_int_equal(seen.waits, 1);
    assert_int_equal(seen.mapping_ns, 1000 * MS);
}

static void ended_tasks_are_forgotten(void **state)
{
    (void)state;
    struct file_tasks tasks = {0};
    for (uint32_t i = 1; i < 100000; i++) {
        file_tasks_note_start(&tasks, i, true, i * 100 * MS);
        file_tasks_note_end(&tasks, i, i * 100 * MS + MS);
    }
    assert_in_range(tasks.count, 1, 4000);
    assert_non_null(file_task_find(&tasks, 99999));
    assert_null(file_task_find(&tasks, 1));
    file_tasks_free(&tasks);
}

static void every_frame_has_a_name_without_a_slash(void **state)
{
    (void)state;
    char names[WAIT_FRAMES][64];
    for (unsigned i = 0; i < WAIT_FRAMES; i++) {
        wait_frame_name(i, names[i]);
        assert_int_equal(names[i][0], '[');
        assert_int_equal(names[i][strlen(names[i]) - 1], ']');
        assert_null(strchr(names[i], '/'));
        assert_int_equal(wait_frame_of(wait_frame_avma(i)), i);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(names[i], names[j]);
    }
    assert_int_equal(wait_frame_of(synthetic_avma(SYNTHETIC_KERNEL)), WAIT_FRAMES);
    assert_int_equal(wait_frame_of(0x1000), WAIT_FRAMES);
}

/* A process may map files with long names again and again, and execute programs, or fork. */
static void mappings_are_bounded_for_a_process_and_for_all(void **state)
{
    struct world *world = *state;
    uint64_t for_one = 0;
    for (unsigned i = 0; i < 3000; i++) {
        put_long_mapping(world, PID, i);
        put_program(world, 1000 * MS);
    }
    off_writer_round(&world->writer, &world->queue, 1000 * MS, true);
    for_one = 3000 - world->writer.mappings_left_out;
    assert_in_range(for_one * 3600, UINT64_C(3) << 20, UINT64_C(4) << 20);
    world->writer.mappings_left_out = 0;
    for (unsigned i = 0; i < 40 * 1000; i++)
        put_long_mapping(world, PID + 1 + (pid_t)(i % 40), i);
    off_writer_round(&world->writer, &world->queue, 1000 * MS, true);
    uint64_t for_all = for_one + 40 * 1000 - world->writer.mappings_left_out;
    assert_in_range(for_all * 3600, UINT64_C(60) << 20, UINT64_C(64) << 20);
}

/* Threads started behind the hooks, with all signals blocked, have no other record than their waits. */
static void a_thread_with_waits_alone_is_counted_and_started_once(void **state)
{
    struct world *world = *state;
    struct error error;
    struct perfdata_reader *reader;
    struct perfdata_event event;
    size_t starts = 0;
    write_start(world, 900 * MS);
    put_thread_sample(world, PID, 1000 * MS);
    put_thread_sample(world, PID + 1, 1000 * MS);
    put_thread_sample(world, PID + 1, 1010 * MS);
    off_writer_round(&world->writer, &world->queue, 3000 * MS, false);
    assert_int_equal(world->writer.threads, 1);
    assert_int_equal(perfdata_finish(world->file), 0);
    assert_int_equal(perfdata_reader_open(&reader, world->fd, "rec.data", &error), 0);
    while (perfdata_next(reader, &event) > 0)
        if (event.kind == PERFDATA_FORK && event.tid == PID + 1) {
            assert_int_equal(event.pid, PID);
            assert_int_equal(event.time_ns, 900 * MS);
            starts++;
        }
    perfdata_reader_close(reader);
    assert_int_equal(starts, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sample_waits_for_the_start_of_its_thread),
        TEST(a_thread_unknown_to_the_engine_is_written_all_the_same),
        TEST(a_thread_with_waits_alone_is_counted_and_started_once),
        TEST(frames_are_mapped_once_for_each_program),
        TEST(samples_from_before_an_exec_keep_their_time),
        TEST(a_later_start_of_the_same_program_has_its_mappings),
        TEST(mappings_are_bounded_for_a_process_and_for_all),
        TEST(a_pid_used_again_has_the_waits_and_mappings_of_one_process),
        TEST(the_end_of_a_process_is_that_of_its_last_thread),
        cmocka_unit_test(the_start_of_an_ended_task_may_be_older_than_the_kernels),
        TEST(stacks_that_end_early_have_a_mapping_of_the_mark),
        cmocka_unit_test(ended_tasks_are_forgotten),
        cmocka_unit_test(every_frame_has_a_name_without_a_slash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
