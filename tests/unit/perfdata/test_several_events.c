/* SPDX-License-Identifier: MIT */
/* A capture with several events: each sample keeps its event, the events keep names and units. */
#include "capture.h"

#include <errno.h>
#include <fcntl.h>

enum { CLOCK, WAIT = 2, SPAWN = 5 };

static struct perfdata_writer *open_with_events(int fd)
{
    struct perfdata_config config = capture_config();
    config.events[WAIT] = (struct perfdata_event_row){.name = "off-cpu", .unit = "ns"};
    config.events[SPAWN] =
        (struct perfdata_event_row){.name = "thread-create", .unit = "count", .has_object = true};
    struct perfdata_writer *writer;
    assert_int_equal(perfdata_writer_open(&writer, fd, &config), 0);
    return writer;
}

static int write_sample(struct perfdata_writer *writer, uint32_t event, uint64_t weight)
{
    struct perfdata_sample sample = {.pid = 100,
                                     .tid = 100,
                                     .time_ns = 5000000100 + weight,
                                     .event = event,
                                     .weight = weight,
                                     .object_avma = 0x7fee0000,
                                     .number = 4242,
                                     .frames = capture_stack,
                                     .frame_count = 3};
    return perfdata_write_sample(writer, &sample);
}

static void write_all(struct perfdata_writer *writer)
{
    assert_int_equal(write_sample(writer, WAIT, 7), 0);
    assert_int_equal(write_sample(writer, CLOCK, 8), 0);
    assert_int_equal(write_sample(writer, SPAWN, 9), 0);
}

static void check_events(struct perfdata_reader *reader)
{
    static const char *const names[] = {"cpu-clock:u", "off-cpu", "thread-create"};
    static const char *const units[] = {"", "ns", "count"};
    assert_int_equal(perfdata_attr_count(reader), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(perfdata_attr(reader, i)->name, names[i]);
        assert_string_equal(perfdata_attr(reader, i)->unit, units[i]);
    }
}

static void check_samples(struct perfdata_reader *reader)
{
    static const size_t attrs[] = {1, 0, 2};
    struct perfdata_event event;
    size_t count = 0;
    while (perfdata_next(reader, &event) > 0) {
        if (event.kind != PERFDATA_SAMPLE)
            continue;
        bool has_object = attrs[count] == 2;
        assert_int_equal(event.attr_index, attrs[count]);
        assert_int_equal(event.period, 7 + count);
        assert_int_equal(event.data_avma, has_object ? 0x7fee0000 : 0);
        assert_int_equal(event.weight, has_object ? 4242 : 0);
        assert_int_equal(event.callchain_count, 3);
        assert_int_equal(event.callchain[2], capture_stack[2]);
        count++;
    }
    assert_int_equal(count, 3);
    assert_null(perfdata_damage(reader));
}

static void each_sample_keeps_its_event_and_object(void **state)
{
    (void)state;
    int fd = memory_file();
    struct perfdata_writer *writer = open_with_events(fd);
    write_all(writer);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    struct perfdata_reader *reader = open_reader(fd);
    check_samples(reader);
    check_events(reader);
    perfdata_reader_close(reader);
    close(fd);
}

/* Without EVENT_DESC, which the end of a recording adds. */
static void an_unfinished_file_keeps_names_and_units(void **state)
{
    (void)state;
    int fd = memory_file();
    struct perfdata_writer *writer = open_with_events(fd);
    write_all(writer);
    assert_int_equal(perfdata_checkpoint(writer), 0);
    perfdata_writer_close(writer);
    struct perfdata_reader *reader = open_reader(fd);
    assert_true(perfdata_is_unfinished(reader));
    check_samples(reader);
    assert_string_equal(perfdata_attr(reader, 1)->name, "off-cpu");
    assert_string_equal(perfdata_attr(reader, 1)->unit, "ns");
    assert_string_equal(perfdata_attr(reader, 2)->name, "thread-create");
    perfdata_reader_close(reader);
    close(fd);
}

static void unknown_events_are_refused_and_nothing_is_written(void **state)
{
    (void)state;
    int fd = memory_file();
    struct perfdata_writer *writer = open_with_events(fd);
    uint64_t before = perfdata_bytes_written(writer);
    assert_int_equal(write_sample(writer, 1, 1), -EINVAL);
    assert_int_equal(write_sample(writer, PERFDATA_EVENTS_MAX, 1), -EINVAL);
    assert_int_equal(perfdata_bytes_written(writer), before);
    assert_int_equal(write_sample(writer, CLOCK, 1), 0);
    perfdata_writer_close(writer);
    struct perfdata_config config = {.start_time_ns = 1};
    assert_int_equal(perfdata_writer_open(&writer, fd, &config), -EINVAL);
    close(fd);
}

static void the_longest_stack_with_an_object_fits_into_a_record(void **state)
{
    (void)state;
    int fd = memory_file();
    uint64_t frames[8200];
    struct perfdata_event event;
    for (size_t i = 0; i < 8200; i++)
        frames[i] = 0x400000 + i;
    struct perfdata_writer *writer = open_with_events(fd);
    struct perfdata_sample sample = {.pid = 100,
                                     .tid = 100,
                                     .time_ns = 5000000100,
                                     .event = SPAWN,
                                     .weight = 1,
                                     .number = 4242,
                                     .frames = frames,
                                     .frame_count = 8200};
    assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    struct perfdata_reader *reader = open_reader(fd);
    while (perfdata_next(reader, &event) > 0 && event.kind != PERFDATA_SAMPLE)
        continue;
    assert_int_equal(event.callchain_count, 8182);
    assert_int_equal(event.callchain[8181], frames[8181]);
    assert_int_equal(event.weight, 4242);
    perfdata_reader_close(reader);
    close(fd);
}

/* IP and mode are the kernel's, both parts have their marker; without user frames, one part. */
static void kernel_frames_come_above_user_frames(void **state)
{
    (void)state;
    static const uint64_t kernel[] = {0xffffffff81001000, 0xffffffff81002000};
    int fd = memory_file();
    struct perfdata_event event;
    struct perfdata_writer *writer = open_with_events(fd);
    struct perfdata_sample sample = {.pid = 100,
                                     .tid = 100,
                                     .time_ns = 5000000100,
                                     .weight = 1,
                                     .frames = capture_stack,
                                     .frame_count = 3,
                                     .kernel_frames = kernel,
                                     .kernel_count = 2};
    assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    sample.frame_count = 0;
    assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    sample.kernel_count = PERFDATA_KERNEL_FRAMES_MAX + 1;
    assert_int_equal(perfdata_write_sample(writer, &sample), -EINVAL);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    struct perfdata_reader *reader = open_reader(fd);
    for (int i = 0; i < 2; i++) {
        size_t words = i == 0 ? 7 : 3;
        while (perfdata_next(reader, &event) > 0 && event.kind != PERFDATA_SAMPLE)
            continue;
        assert_int_equal(event.ip, kernel[0]);
        assert_int_equal(event.callchain_count, words);
        assert_int_equal(event.callchain[0], PERFDATA_CONTEXT_KERNEL);
        assert_int_equal(event.callchain[2], kernel[1]);
        if (i == 0) {
            assert_int_equal(event.callchain[3], PERFDATA_CONTEXT_USER);
            assert_int_equal(event.callchain[6], capture_stack[2]);
        }
    }
    perfdata_reader_close(reader);
    close(fd);
}

enum { REGISTERS = 3, REGISTER_BITS = 1 << 6 | 1 << 7 | 1 << 8, MOST_STACK_BYTES = 65528 };
static const uint64_t copied_registers[REGISTERS] = {0x1111, 0x7ffd0000, 0x400123};

static struct perfdata_event copied(int fd, struct perfdata_reader **reader,
                                    const struct perfdata_stack_copy *copy)
{
    struct perfdata_config config = capture_config();
    struct perfdata_writer *writer;
    struct perfdata_event event;
    config.events[0].registers = REGISTER_BITS;
    config.events[WAIT] = (struct perfdata_event_row){.name = "off-cpu", .unit = "ns"};
    assert_int_equal(perfdata_writer_open(&writer, fd, &config), 0);
    struct perfdata_sample sample = {.pid = 100,
                                     .tid = 100,
                                     .time_ns = 5000000100,
                                     .weight = 1,
                                     .frames = capture_stack,
                                     .frame_count = 3,
                                     .copy = copy};
    assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    sample.event = WAIT;
    assert_int_equal(perfdata_write_sample(writer, &sample), copy ? -EINVAL : 0);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    *reader = open_reader(fd);
    while (perfdata_next(*reader, &event) > 0 && event.kind != PERFDATA_SAMPLE)
        continue;
    assert_int_equal(event.ip, capture_stack[0]);
    assert_int_equal(event.period, 1);
    return event;
}

/* Sizes: none, a part of a word, and more than a record has room for. */
static void a_copy_of_a_stack_replaces_user_frames(void **state)
{
    (void)state;
    static uint8_t bytes[MOST_STACK_BYTES];
    static const size_t sizes[] = {0, 13, 16, 4096, MOST_STACK_BYTES};
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct perfdata_stack_copy copy = {copied_registers, bytes, sizes[i / 2], i % 2};
        int fd = memory_file();
        struct perfdata_reader *reader;
        struct perfdata_event event = copied(fd, &reader, &copy);
        bool is_all = event.user_stack_bytes == copy.size;
        assert_int_equal(event.callchain_count, 0);
        assert_int_equal(event.user_abi, PERFDATA_ABI_64);
        assert_int_equal(event.user_registers_mask, REGISTER_BITS);
        assert_memory_equal(event.user_registers, copied_registers, sizeof(copied_registers));
        assert_true(is_all || (copy.size == MOST_STACK_BYTES && event.user_stack_bytes > 65000));
        if (copy.size > 0)
            assert_memory_equal(event.user_stack, bytes, event.user_stack_bytes);
        if (is_all && copy.size % 8 == 0)
            assert_int_equal(event.user_stack_wanted_bytes == event.user_stack_bytes, copy.is_full);
        perfdata_reader_close(reader);
        close(fd);
    }
}

static void a_sample_without_a_copy_keeps_its_frames(void **state)
{
    (void)state;
    int fd = memory_file();
    struct perfdata_reader *reader;
    struct perfdata_event event = copied(fd, &reader, NULL);
    assert_int_equal(event.callchain_count, 3);
    assert_int_equal(event.user_abi, PERFDATA_ABI_NONE);
    assert_int_equal(event.user_stack_bytes, 0);
    perfdata_reader_close(reader);
    close(fd);
}

/* The leaf of a wait is a user address: IP and mode are of the user's side. */
static void a_leaf_comes_above_kernel_frames(void **state)
{
    (void)state;
    static const uint64_t kernel[] = {0xffffffff81001000, 0xffffffff81002000};
    static const uint64_t expected[] = {PERFDATA_CONTEXT_USER,   0x800000001008,
                                        PERFDATA_CONTEXT_KERNEL, 0xffffffff81001000,
                                        0xffffffff81002000,      PERFDATA_CONTEXT_USER};
    int fd = memory_file();
    struct perfdata_event event;
    struct perfdata_writer *writer = open_with_events(fd);
    struct perfdata_sample sample = {.pid = 100,
                                     .tid = 100,
                                     .time_ns = 5000000100,
                                     .weight = 1,
                                     .leaf = 0x800000001008,
                                     .frames = capture_stack,
                                     .frame_count = 3,
                                     .kernel_frames = kernel,
                                     .kernel_count = 2};
    assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    sample.kernel_count = 0;
    assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    sample.frame_count = 0;
    assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    struct perfdata_reader *reader = open_reader(fd);
    for (size_t i = 0; i < 3; i++) {
        static const size_t words[] = {9, 4, 1};
        while (perfdata_next(reader, &event) > 0 && event.kind != PERFDATA_SAMPLE)
            continue;
        assert_int_equal(event.ip, 0x800000001008);
        assert_int_equal(event.callchain_count, words[i]);
        if (i == 0)
            assert_memory_equal(event.callchain, expected, sizeof(expected));
        assert_int_equal(event.callchain[i == 0], 0x800000001008);
        if (i < 2)
            assert_memory_equal(event.callchain + words[i] - 3, capture_stack, 24);
    }
    perfdata_reader_close(reader);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_keeps_its_event_and_object),
        cmocka_unit_test(an_unfinished_file_keeps_names_and_units),
        cmocka_unit_test(unknown_events_are_refused_and_nothing_is_written),
        cmocka_unit_test(kernel_frames_come_above_user_frames),
        cmocka_unit_test(a_copy_of_a_stack_replaces_user_frames),
        cmocka_unit_test(a_sample_without_a_copy_keeps_its_frames),
        cmocka_unit_test(a_leaf_comes_above_kernel_frames),
        cmocka_unit_test(the_longest_stack_with_an_object_fits_into_a_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
