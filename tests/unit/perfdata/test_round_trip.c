/* SPDX-License-Identifier: MIT */
/* What the writer writes, the reader reads; and the bytes in between are what the format asks for.
 */
#include "capture.h"

#include "base/containers/cursor.h"

#include <errno.h>
#include <fcntl.h>

static void every_record_comes_back(void **state)
{
    (void)state;
    int fd = finished_capture();
    struct perfdata_reader *reader = open_reader(fd);
    char *text = print_events(reader);
    assert_string_equal(
        text, "round\n"
              "comm 100/100 @0 serve exec\n"
              "map 100/100 @0 400000+10000 from 1000 prot 5 /opt/app/serve "
              "deadbeef05060708090a0b0c0d0e0f1011121314\n"
              "sample #0 100/100 @5000000100 ip 400123 period 1000 cpu -1 chain 400123 400456 "
              "400789\n"
              "sample #0 100/100 @5000000101 ip 400123 period 2000 cpu -1 chain 400123 400456\n"
              "sample #0 100/101 @5000000102 ip 400123 period 3000 cpu -1 chain 400123\n"
              "round\n"
              "fork 101/101 of 100/100 @5000000300\n"
              "exit 101/101 of 100/100 @5000000300\n");
    assert_null(perfdata_damage(reader));

    perfdata_rewind(reader);
    char *again = print_events(reader);
    assert_string_equal(again, text);
    free(again);
    free(text);
    perfdata_reader_close(reader);
    close(fd);
}

static void the_event_is_described(void **state)
{
    (void)state;
    int fd = finished_capture();
    struct perfdata_reader *reader = open_reader(fd);
    assert_int_equal(perfdata_attr_count(reader), 1);
    const struct perfdata_attr *attr = perfdata_attr(reader, 0);
    assert_int_equal(attr->type, 1);   /* PERF_TYPE_SOFTWARE */
    assert_int_equal(attr->config, 0); /* PERF_COUNT_SW_CPU_CLOCK */
    assert_int_equal(attr->period_or_frequency, 1000000);
    assert_false(attr->is_frequency);
    assert_string_equal(attr->name, "cpu-clock:u");
    assert_null(perfdata_attr(reader, 1));
    perfdata_reader_close(reader);
    close(fd);
}

static void facts_come_back(void **state)
{
    (void)state;
    int fd = finished_capture();
    struct perfdata_reader *reader = open_reader(fd);
    const struct perfdata_facts *facts = perfdata_facts(reader);
    char host[256];
    assert_int_equal(gethostname(host, sizeof(host)), 0);
    assert_string_equal(facts->host, host);
    assert_memory_equal(facts->version, "6.1", 3);
    assert_int_equal(facts->cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
    assert_int_equal(facts->argc, 3);
    assert_string_equal(facts->argv[0], "/opt/app/serve");
    assert_string_equal(facts->argv[2], "80");
    assert_null(facts->argv[3]);
    assert_int_equal(facts->first_sample_ns, 5000000100);
    assert_int_equal(facts->last_sample_ns, 5000000102);
    assert_int_equal(facts->clock_ns, 5000000000);
    assert_int_equal(facts->wall_ns, 1700000000123456789);
    perfdata_reader_close(reader);
    close(fd);
}

static void the_command_line_can_be_left_out(void **state)
{
    (void)state;
    int fd = memory_file();
    struct perfdata_config config = capture_config();
    struct perfdata_writer *writer;
    config.argv = NULL;
    assert_int_equal(perfdata_writer_open(&writer, fd, &config), 0);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    struct perfdata_reader *reader = open_reader(fd);
    assert_int_equal(perfdata_facts(reader)->argc, 0);
    assert_null(perfdata_facts(reader)->argv[0]);
    perfdata_reader_close(reader);
    close(fd);
}

static void private_features_come_back(void **state)
{
    (void)state;
    int fd = memory_file();
    size_t size;
    struct perfdata_writer *writer = open_writer(fd);
    assert_int_equal(perfdata_set_feature(writer, 241, "second", 6), 0);
    assert_int_equal(perfdata_set_feature(writer, 240, "old", 3), 0);
    assert_int_equal(perfdata_set_feature(writer, 240, "first", 5), 0);
    assert_int_equal(perfdata_set_feature(writer, 3, "hostname is perf's", 18), -EINVAL);
    assert_int_equal(perfdata_set_feature(writer, 256, "behind the last", 15), -EINVAL);
    assert_int_equal(perfdata_finish(writer), 0);
    assert_int_equal(perfdata_write_round(writer), -EINVAL);
    perfdata_writer_close(writer);

    struct perfdata_reader *reader = open_reader(fd);
    const uint8_t *payload = perfdata_feature(reader, 240, &size);
    assert_int_equal(size, 5);
    assert_memory_equal(payload, "first", 5);
    payload = perfdata_feature(reader, 241, &size);
    assert_int_equal(size, 6);
    assert_memory_equal(payload, "second", 6);
    assert_null(perfdata_feature(reader, 242, &size));
    assert_null(perfdata_feature(reader, 4000, &size));
    perfdata_forget_feature(reader, 240);
    perfdata_forget_feature(reader, 4000);
    assert_memory_equal(perfdata_feature(reader, 240, &size), "first", 5);
    assert_int_equal(size, 5);
    perfdata_reader_close(reader);
    close(fd);
}

/* The bytes of the record that was written last, from data.size before and after it. */
static size_t record_bytes(struct perfdata_writer *writer, const struct perfdata_sample *sample)
{
    uint64_t before = perfdata_bytes_written(writer);
    assert_int_equal(perfdata_write_sample(writer, sample), 0);
    return (size_t)(perfdata_bytes_written(writer) - before);
}

static void check_sample_bytes(const struct perfdata_config *config, size_t fixed_bytes)
{
    static uint64_t frames[1024];
    int fd = memory_file();
    struct perfdata_writer *writer;
    assert_int_equal(perfdata_writer_open(&writer, fd, config), 0);
    for (size_t count = 1; count <= 1024; count++) {
        struct perfdata_sample sample = {.frames = frames, .frame_count = count};
        assert_int_equal(record_bytes(writer, &sample), fixed_bytes + 8 * count);
    }
    perfdata_writer_close(writer);
    close(fd);
}

static void a_sample_costs_48_bytes_and_8_a_frame(void **state)
{
    (void)state;
    const struct perfdata_config config = capture_config();
    check_sample_bytes(&config, 48);
}

static void one_of_several_events_costs_8_bytes_more(void **state)
{
    (void)state;
    struct perfdata_config config = capture_config();
    config.events[1] = (struct perfdata_event_row){.name = "off-cpu", .unit = "ns"};
    check_sample_bytes(&config, 56);
}

static void of_too_many_frames_the_innermost_are_kept(void **state)
{
    (void)state;
    enum { FRAMES = 10000, FRAMES_IN_A_RECORD = (65528 - 48) / 8 };
    static uint64_t frames[FRAMES];
    for (size_t i = 0; i < FRAMES; i++)
        frames[i] = 0x1000 + i;
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    struct perfdata_sample sample = {.frames = frames, .frame_count = FRAMES};
    assert_int_equal(record_bytes(writer, &sample), 65528);
    sample.frame_count = 0;
    assert_int_equal(perfdata_write_sample(writer, &sample), -EINVAL);
    assert_int_equal(perfdata_checkpoint(writer), 0);
    perfdata_writer_close(writer);

    struct perfdata_reader *reader = open_reader(fd);
    struct perfdata_event event;
    assert_int_equal(perfdata_next(reader, &event), 1);
    assert_int_equal(event.kind, PERFDATA_ROUND);
    assert_int_equal(perfdata_next(reader, &event), 1);
    assert_int_equal(event.callchain_count, FRAMES_IN_A_RECORD);
    assert_memory_equal(event.callchain, frames, 8 * FRAMES_IN_A_RECORD);
    assert_int_equal(perfdata_next(reader, &event), 0);
    assert_null(perfdata_damage(reader));
    perfdata_reader_close(reader);
    close(fd);
}

/* perf's parser wants records of a multiple of 8 bytes, and names cut where its own buffers end. */
static void names_of_any_length_are_padded_and_cut(void **state)
{
    (void)state;
    static char path[6000];
    struct perfdata_task task = {.pid = 1, .tid = 1};
    struct perfdata_mapping mapping = {.pid = 1, .tid = 1, .path = path};
    for (size_t length = 0; length < sizeof(path) - 1; length += length < 20 ? 1 : 997) {
        memset(path, 'a', length);
        int fd = memory_file();
        struct perfdata_writer *writer = open_writer(fd);
        assert_int_equal(perfdata_write_comm(writer, &task, path, false), 0);
        assert_int_equal(perfdata_bytes_written(writer) % 8, 0);
        assert_int_equal(perfdata_write_mapping(writer, &mapping), 0);
        assert_int_equal(perfdata_bytes_written(writer) % 8, 0);
        assert_int_equal(perfdata_checkpoint(writer), 0);
        perfdata_writer_close(writer);

        struct perfdata_reader *reader = open_reader(fd);
        struct perfdata_event event;
        assert_int_equal(perfdata_next(reader, &event), 1);
        assert_int_equal(perfdata_next(reader, &event), 1);
        assert_int_equal(strlen(event.name), length < 15 ? length : 15);
        assert_int_equal(perfdata_next(reader, &event), 1);
        assert_int_equal(strlen(event.path), length < 4095 ? length : 4095);
        assert_int_equal(event.build_id_bytes, 0);
        perfdata_reader_close(reader);
        close(fd);
    }
}

static size_t bytes_of_mapping(const struct perfdata_mapping *mapping)
{
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    size_t before = perfdata_bytes_written(writer);
    assert_int_equal(perfdata_write_mapping(writer, mapping), 0);
    size_t bytes = perfdata_bytes_written(writer) - before;
    assert_int_equal(perfdata_checkpoint(writer), 0);
    perfdata_writer_close(writer);

    struct perfdata_reader *reader = open_reader(fd);
    struct perfdata_event event;
    do
        assert_int_equal(perfdata_next(reader, &event), 1);
    while (event.kind != PERFDATA_MAPPING);
    assert_int_equal(event.start_avma, mapping->start_avma);
    assert_int_equal(event.bytes, mapping->bytes);
    assert_int_equal(event.file_offset, mapping->file_offset);
    assert_int_equal(event.protection, mapping->protection);
    assert_string_equal(event.path, mapping->path);
    assert_int_equal(event.build_id_bytes, mapping->build_id_bytes);
    assert_int_equal(event.is_kernel, mapping->is_kernel);
    perfdata_reader_close(reader);
    close(fd);
    return bytes;
}

/* MMAP in place of MMAP2. */
static void code_without_a_build_id_has_a_short_record(void **state)
{
    (void)state;
    struct perfdata_mapping mapping = capture_mapping;
    size_t bytes = bytes_of_mapping(&mapping);
    mapping.build_id_bytes = 0;
    assert_int_equal(bytes_of_mapping(&mapping), bytes - 32);
    mapping.protection = PROT_READ;
    assert_int_equal(bytes_of_mapping(&mapping), bytes);
    mapping.protection = PROT_READ | PROT_WRITE | PROT_EXEC;
    assert_int_equal(bytes_of_mapping(&mapping), bytes);
    mapping.protection = PROT_READ | PROT_EXEC;
    mapping.is_kernel = true;
    assert_int_equal(bytes_of_mapping(&mapping), bytes);
}

/* BUILD_ID (bit 2) is the first feature, so its section is the first of the table behind the data.
 */
static void a_build_id_is_listed_once(void **state)
{
    (void)state;
    enum { ENTRY_BYTES = 8 + 4 + 24 + 16 };
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    struct perfdata_mapping mapping = capture_mapping;
    for (uint32_t pid = 1; pid < 50; pid++) {
        mapping.pid = mapping.tid = pid;
        assert_int_equal(perfdata_write_mapping(writer, &mapping), 0);
    }
    mapping.build_id[0]++;
    assert_int_equal(perfdata_write_mapping(writer, &mapping), 0);
    mapping.build_id_bytes = 21;
    assert_int_equal(perfdata_write_mapping(writer, &mapping), -EINVAL);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);

    size_t size;
    uint8_t *bytes = file_bytes(fd, &size);
    struct cursor c = cursor_of(bytes, size);
    cursor_seek(&c, 40);
    uint64_t data_offset = cursor_u64(&c), data_size = cursor_u64(&c);
    cursor_seek(&c, 72);
    assert_int_equal(cursor_u64(&c) & 7, 4);
    cursor_seek(&c, data_offset + data_size + 8);
    assert_int_equal(cursor_u64(&c), 2 * ENTRY_BYTES);
    assert_false(c.failed);
    free(bytes);
    close(fd);
}

static void a_large_recording_keeps_every_sample(void **state)
{
    (void)state;
    enum { SAMPLES = 40000, FRAMES = 40, HELD = 77 }; /* 15 MB: many batches, many windows */
    uint64_t frames[FRAMES];
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        size_t count = 1 + i % FRAMES;
        for (size_t j = 0; j < count; j++)
            frames[j] = i * FRAMES + j;
        struct perfdata_sample sample = {
            .tid = (uint32_t)i, .weight = i, .frames = frames, .frame_count = count};
        assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    }
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);

    struct perfdata_reader *reader = open_reader(fd);
    struct perfdata_event event, held = {.kind = PERFDATA_OTHER};
    uint64_t seen = 0;
    while (perfdata_next(reader, &event) == 1) {
        if (event.kind != PERFDATA_SAMPLE)
            continue;
        if (seen == HELD) {
            assert_true(perfdata_hold(&event.record));
            held = event;
        }
        assert_int_equal(event.tid, seen);
        assert_int_equal(event.period, seen);
        assert_int_equal(event.callchain_count, 1 + seen % FRAMES);
        assert_int_equal(event.callchain[event.callchain_count - 1], seen * FRAMES + seen % FRAMES);
        seen++;
    }
    assert_int_equal(seen, SAMPLES);
    assert_int_equal(held.callchain_count, 1 + HELD % FRAMES);
    assert_int_equal(held.callchain[HELD % FRAMES], HELD * FRAMES + HELD % FRAMES);
    perfdata_decode(reader, &held.record, &event);
    assert_int_equal(event.tid, HELD);
    assert_int_equal(event.period, HELD);
    assert_int_equal(event.callchain[HELD % FRAMES], HELD * FRAMES + HELD % FRAMES);
    perfdata_release(&held.record);
    perfdata_reader_close(reader);
    close(fd);
}

/* Readers have handed out everything up to the last but one mark: what comes with an older time would be out of
 * order for them. */
static void no_record_is_older_than_the_last_but_one_mark_allows(void **state)
{
    (void)state;
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    struct perfdata_task task = {.pid = 1, .tid = 1, .time_ns = 100};
    assert_int_equal(perfdata_write_fork(writer, &task), 0);
    assert_int_equal(perfdata_write_round(writer), 0);
    task.time_ns = 200;
    assert_int_equal(perfdata_write_comm(writer, &task, "one", false), 0);
    assert_int_equal(perfdata_write_round(writer), 0);
    struct perfdata_mapping mapping = capture_mapping;
    mapping.time_ns = 50;
    mapping.build_id_bytes = 0;
    assert_int_equal(perfdata_write_mapping(writer, &mapping), 0);
    struct perfdata_sample sample = {
        .pid = 1, .tid = 1, .time_ns = 99, .weight = 1, .frames = capture_stack, .frame_count = 1};
    assert_int_equal(perfdata_write_sample(writer, &sample), 0);
    task.time_ns = 150;
    assert_int_equal(perfdata_write_exit(writer, &task), 0);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    struct perfdata_reader *reader = open_reader(fd);
    char *text = print_events(reader);
    assert_non_null(strstr(text, "map 100/100 @100 "));
    assert_non_null(strstr(text, "sample #0 1/1 @100 "));
    assert_non_null(strstr(text, "exit 1/1 of 0/0 @150\n"));
    free(text);
    perfdata_reader_close(reader);
    close(fd);
}

static void errors_stay(void **state)
{
    (void)state;
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    int full = open("/dev/full", O_RDWR);
    assert_true(full >= 0);
    assert_int_equal(dup2(full, fd), fd);
    close(full);
    assert_int_equal(perfdata_write_round(writer), 0); /* in memory */
    assert_int_equal(perfdata_checkpoint(writer), -ENOSPC);
    assert_int_equal(perfdata_write_round(writer), -ENOSPC);
    assert_int_equal(perfdata_finish(writer), -ENOSPC);
    perfdata_writer_close(writer);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_comes_back),
        cmocka_unit_test(the_event_is_described),
        cmocka_unit_test(facts_come_back),
        cmocka_unit_test(the_command_line_can_be_left_out),
        cmocka_unit_test(private_features_come_back),
        cmocka_unit_test(a_sample_costs_48_bytes_and_8_a_frame),
        cmocka_unit_test(one_of_several_events_costs_8_bytes_more),
        cmocka_unit_test(of_too_many_frames_the_innermost_are_kept),
        cmocka_unit_test(names_of_any_length_are_padded_and_cut),
        cmocka_unit_test(code_without_a_build_id_has_a_short_record),
        cmocka_unit_test(a_build_id_is_listed_once),
        cmocka_unit_test(a_large_recording_keeps_every_sample),
        cmocka_unit_test(no_record_is_older_than_the_last_but_one_mark_allows),
        cmocka_unit_test(errors_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
