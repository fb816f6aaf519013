/* SPDX-License-Identifier: MIT */
/* The forms that a recording comes in besides the plain file: through a pipe, in a directory,
 * compressed; and old and foreign headers. */
#include "layout.h"

#include <errno.h>
#include <fcntl.h>

static const struct event small_event = {.sample_type = 1 | 1 << 8, .id = 5}; /* ip, period */

static void put_sample(struct file *file, uint64_t ip)
{
    begin_record(file, 9, 2), put64(file, ip), put64(file, 2), end_record(file);
}

static const char two_samples[] = "sample #0 0/0 @0 ip 1 period 2 cpu -1 chain\n"
                                  "sample #0 0/0 @0 ip 3 period 2 cpu -1 chain\n";

static struct file begin_pipe(bool big)
{
    struct file file = {.big = big};
    buffer_text(&file.bytes, big ? "2ELIFREP" : "PERFILE2");
    put64(&file, 16);
    return file;
}

static int pipe_file(struct file *file)
{
    int fd = memory_file();
    assert_int_equal(io_pwrite(fd, file->bytes.bytes, file->bytes.size, 0), 0);
    buffer_free(&file->bytes);
    return fd;
}

static void put_pipe_attr(struct file *file, const struct event *event)
{
    begin_record(file, 64, 0), put_attr(file, event), put64(file, event->id), end_record(file);
}

static void a_pipe_describes_itself_in_records(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct file file = begin_pipe(big);
        put_pipe_attr(&file, &small_event);
        begin_record(&file, 80, 0), put64(&file, 3), put32(&file, 8), put_text(&file, "mybox", 8);
        end_record(&file);
        begin_record(&file, 66, 0), put32(&file, 5), put32(&file, 0), end_record(&file);
        put_text(&file, "trace", 8);
        put_sample(&file, 1);
        begin_record(&file, 10, 2), put32(&file, 1), put32(&file, 1), put64(&file, 0x1000);
        put64(&file, 0x2000), put64(&file, 0), buffer_zeros(&file.bytes, 24);
        put32(&file, 5), put32(&file, 2), put_text(&file, "/bin/x", 8), end_record(&file);
        begin_record(&file, 78, 0), put64(&file, 2), put64(&file, 5);
        put_text(&file, "my-event", 16), end_record(&file);
        begin_record(&file, 67, 2 | 1 << 15), put32(&file, (uint32_t)-1);
        put_text(&file, "\xab\xcd", 20), buffer_u8(&file.bytes, 2), put_text(&file, "", 3);
        put_text(&file, "/bin/x", 8), end_record(&file);
        int fd = pipe_file(&file);
        struct perfdata_reader *reader = open_reader(fd);
        assert_string_equal(perfdata_attr(reader, 0)->name, "my-event");
        assert_string_equal(perfdata_facts(reader)->host, "mybox");
        size_t size;
        assert_memory_equal(perfdata_feature(reader, 1, &size), "trace", 5);
        char *text = print_events(reader);
        assert_non_null(strstr(text, "map 1/1 @0 1000+2000 from 0 prot 5 /bin/x abcd\n"));
        assert_non_null(strstr(text, "sample #0 0/0 @0 ip 1 period 2"));
        assert_null(perfdata_damage(reader));
        free(text);
        perfdata_reader_close(reader);
        close(fd);
    }
}

static void a_pipe_that_breaks_yields_what_came_through(void **state)
{
    (void)state;
    struct file file = begin_pipe(false);
    put_pipe_attr(&file, &small_event);
    put_sample(&file, 1), put_sample(&file, 3), put_sample(&file, 5);
    file.bytes.size -= 3;
    int fd = pipe_file(&file);
    struct perfdata_reader *reader = open_reader(fd);
    char *text = print_events(reader);
    assert_non_null(strstr(text, two_samples));
    assert_null(strstr(text, "ip 5"));
    assert_non_null(strstr(perfdata_damage(reader), "cut off inside a record"));
    free(text);
    perfdata_reader_close(reader);
    close(fd);
}

/* Every beginning of a pipe is either refused, or read up to the cut. */
static void a_pipe_cut_at_any_byte_harms_nobody(void **state)
{
    (void)state;
    struct file file = begin_pipe(false);
    put_pipe_attr(&file, &small_event);
    begin_record(&file, 80, 0), put64(&file, 12), put32(&file, 1), put32(&file, 112);
    buffer_zeros(&file.bytes, 112), put32(&file, 1), put32(&file, UINT32_MAX), end_record(&file);
    begin_record(&file, 66, 0), put32(&file, 0x7fffffff), put32(&file, 0), end_record(&file);
    put_sample(&file, 1), put_sample(&file, 3);
    for (size_t size = 0; size <= file.bytes.size; size++) {
        int fd = memory_file();
        assert_int_equal(io_pwrite(fd, file.bytes.bytes, size, 0), 0);
        struct perfdata_reader *reader;
        struct error error = {0};
        if (perfdata_reader_open(&reader, fd, "PIPE", &error) != 0) {
            assert_true(error.text[0]);
        } else {
            free(print_events(reader));
            perfdata_reader_close(reader);
        }
        close(fd);
    }
    buffer_free(&file.bytes);
}

static void write_part(int directory, const char *name, const struct buffer *bytes)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(io_pwrite(fd, bytes->bytes, bytes->size, 0), 0);
    close(fd);
}

static int new_directory(char path[64])
{
    strcpy(path, "/tmp/rec-perfdata-XXXXXX");
    assert_non_null(mkdtemp(path));
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    return fd;
}

static void remove_directory(const char *path, int fd)
{
    unlinkat(fd, "data", 0), unlinkat(fd, "data.0", 0), unlinkat(fd, "data.1", 0);
    close(fd);
    assert_int_equal(rmdir(path), 0);
}

static void put_directory(int directory, size_t cut)
{
    struct file main_file = begin_file(false, &small_event, 1), part = {0};
    begin_record(&main_file, 68, 0), end_record(&main_file);
    put(&main_file.features[24], false, 1, 8);
    size_t size;
    int fd = end_file(&main_file);
    uint8_t *bytes = file_bytes(fd, &size);
    write_part(directory, "data", &(struct buffer){.bytes = bytes, .size = size});
    put_sample(&part, 1);
    part.bytes.size -= cut;
    write_part(directory, "data.0", &part.bytes);
    buffer_clear(&part.bytes);
    put_sample(&part, 3);
    write_part(directory, "data.1", &part.bytes);
    buffer_free(&part.bytes);
    free(bytes);
    close(fd);
}

static void a_directory_is_read_part_by_part(void **state)
{
    (void)state;
    char path[64];
    int directory = new_directory(path);
    put_directory(directory, 0);
    struct perfdata_reader *reader = open_reader(directory);
    for (int i = 0; i < 2; i++) {
        char *text = print_events(reader);
        assert_non_null(strstr(text, two_samples));
        free(text);
        assert_int_equal(perfdata_rewind(reader), 0);
    }
    assert_null(perfdata_damage(reader));
    perfdata_reader_close(reader);
    remove_directory(path, directory);
}

/* The author of a capture could name any device or file of the reader. */
static void links_in_a_directory_are_not_followed(void **state)
{
    (void)state;
    char path[64];
    int directory = new_directory(path);
    struct perfdata_reader *reader;
    struct error error = {0};
    put_directory(directory, 0);
    assert_int_equal(renameat(directory, "data.1", directory, "elsewhere"), 0);
    assert_int_equal(symlinkat("elsewhere", directory, "data.1"), 0);
    reader = open_reader(directory);
    struct perfdata_event event;
    int found;
    while ((found = perfdata_next(reader, &event)) == 1)
        ;
    assert_int_equal(found, -ELOOP);
    perfdata_reader_close(reader);
    assert_int_equal(renameat(directory, "data", directory, "elsewhere"), 0);
    assert_int_equal(symlinkat("elsewhere", directory, "data"), 0);
    assert_int_equal(perfdata_reader_open(&reader, directory, path, &error), -ELOOP);
    unlinkat(directory, "elsewhere", 0);
    remove_directory(path, directory);
}

static void a_damaged_part_costs_no_other_part(void **state)
{
    (void)state;
    char path[64];
    int directory = new_directory(path);
    put_directory(directory, 1);
    struct perfdata_reader *reader = open_reader(directory);
    char *text = print_events(reader);
    assert_null(strstr(text, "ip 1"));
    assert_non_null(strstr(text, "ip 3"));
    assert_non_null(strstr(perfdata_damage(reader), "in data.0 at byte 0"));
    free(text);
    perfdata_reader_close(reader);
    remove_directory(path, directory);
}

/* What perf writes today has attrs of 136 bytes, and once had 64: without branches and registers. */
static void attrs_of_every_size_are_read(void **state)
{
    (void)state;
    static const size_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 256};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct file file = begin_file(false, &small_event, 1);
        struct buffer bytes = {0};
        buffer_append(&bytes, file.bytes.bytes, 112); /* header and the id */
        buffer_append(&bytes, file.bytes.bytes + 112, sizes[i] < 112 ? sizes[i] : 112);
        buffer_zeros(&bytes, sizes[i] < 112 ? 0 : sizes[i] - 112);
        buffer_append(&bytes, file.bytes.bytes + 224, 16); /* section of ids */
        buffer_free(&file.bytes);
        file.bytes = bytes;
        file.data = bytes.size;
        patch64(&file, 16, sizes[i] + 16);
        patch64(&file, 32, sizes[i] + 16);
        patch64(&file, 40, bytes.size);
        file.bytes.bytes[112 + 4] = (uint8_t)sizes[i];
        put_sample(&file, 1), put_sample(&file, 3);
        expect_events(&file, two_samples);
    }
}

/* 32-bit hosts keep the feature bits in words of their own size. */
static void features_of_32_bit_hosts_are_found(void **state)
{
    (void)state;
    struct file file = begin_file(true, &small_event, 1);
    put(&file.features[3], true, 8, 4), buffer_append(&file.features[3], "mybox\0\0", 8);
    int fd = end_file(&file);
    uint8_t swapped[8] = {[3] = 1 << 3};
    assert_int_equal(io_pwrite(fd, swapped, 8, 72), 0);
    struct perfdata_reader *reader = open_reader(fd);
    assert_string_equal(perfdata_facts(reader)->host, "mybox");
    perfdata_reader_close(reader);
    close(fd);
}

/* perf record --per-thread: perf notes the largest number of all as the first and the last time. */
static void samples_without_times_leave_the_facts_without(void **state)
{
    (void)state;
    struct file file = begin_file(false, &small_event, 1);
    put(&file.features[21], false, UINT64_MAX, 8), put(&file.features[21], false, UINT64_MAX, 8);
    int fd = end_file(&file);
    struct perfdata_reader *reader = open_reader(fd);
    assert_int_equal(perfdata_facts(reader)->first_sample_ns, 0);
    assert_int_equal(perfdata_facts(reader)->last_sample_ns, 0);
    perfdata_reader_close(reader);
    close(fd);
}

static void a_file_that_shrinks_while_it_is_read_is_damaged(void **state)
{
    (void)state;
    struct file file = begin_file(false, &small_event, 1);
    for (uint64_t i = 0; i < 100000; i++)
        put_sample(&file, i);
    int fd = end_file(&file);
    struct perfdata_reader *reader = open_reader(fd);
    struct perfdata_event event;
    assert_int_equal(perfdata_next(reader, &event), 1);
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    int found;
    while ((found = perfdata_next(reader, &event)) == 1)
        ;
    assert_int_equal(found, 0);
    assert_non_null(strstr(perfdata_damage(reader), "truncated during reading"));
    perfdata_reader_close(reader);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_describes_itself_in_records),
        cmocka_unit_test(a_pipe_that_breaks_yields_what_came_through),
        cmocka_unit_test(a_pipe_cut_at_any_byte_harms_nobody),
        cmocka_unit_test(a_directory_is_read_part_by_part),
        cmocka_unit_test(links_in_a_directory_are_not_followed),
        cmocka_unit_test(a_damaged_part_costs_no_other_part),
        cmocka_unit_test(attrs_of_every_size_are_read),
        cmocka_unit_test(features_of_32_bit_hosts_are_found),
        cmocka_unit_test(samples_without_times_leave_the_facts_without),
        cmocka_unit_test(a_file_that_shrinks_while_it_is_read_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
