/* SPDX-License-Identifier: MIT */
/* Cut and corrupted files: what lies before the damage is read, and nothing else happens. */
#include "capture.h"

#include <errno.h>

/* A file of these bytes. */
static int file_of(const uint8_t *bytes, size_t size)
{
    int fd = memory_file();
    assert_int_equal(io_pwrite(fd, bytes, size, 0), 0);
    return fd;
}

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
    uint64_t word;
    memcpy(&word, bytes + offset, sizeof(word));
    return word;
}

static void a_file_cut_at_any_byte_yields_a_prefix(void **state)
{
    (void)state;
    int whole = finished_capture();
    char *all = print_file(whole);
    size_t size, opened = 0;
    uint8_t *bytes = file_bytes(whole, &size);
    uint64_t data = word_at(bytes, 40), data_size = word_at(bytes, 48);
    size_t last_length = 0;
    for (size_t cut = 0; cut < size; cut++) {
        int fd = file_of(bytes, cut);
        struct perfdata_reader *reader;
        struct error error = {0};
        int err = perfdata_reader_open(&reader, fd, "cut", &error);
        assert_int_equal(err == 0, cut >= data);
        if (err) {
            assert_true(strlen(error.text) > 0);
            close(fd);
            continue;
        }
        char *text = print_events(reader);
        size_t length = strlen(text);
        assert_memory_equal(text, all, length);
        assert_true(length >= last_length);
        assert_int_equal(length == strlen(all), cut >= data + data_size);
        assert_non_null(perfdata_damage(reader));
        last_length = length;
        opened++;
        free(text);
        perfdata_reader_close(reader);
        close(fd);
    }
    assert_int_equal(opened, size - data);
    free(bytes);
    free(all);
    close(whole);
}

static void walk(int fd)
{
    struct perfdata_reader *reader;
    struct error error = {0};
    if (perfdata_reader_open(&reader, fd, "corrupt", &error) != 0) {
        assert_true(strlen(error.text) > 0);
        return;
    }
    for (size_t i = 0; i < perfdata_attr_count(reader); i++)
        assert_non_null(perfdata_attr(reader, i)->name);
    const struct perfdata_facts *facts = perfdata_facts(reader);
    for (size_t i = 0; i < facts->argc; i++)
        assert_non_null(facts->argv[i]);
    assert_null(facts->argv[facts->argc]);
    for (unsigned bit = 0; bit < 256; bit++) {
        size_t bytes;
        perfdata_feature(reader, bit, &bytes);
    }
    char *once = print_events(reader);
    perfdata_rewind(reader);
    char *twice = print_events(reader);
    assert_string_equal(once, twice);
    free(once);
    free(twice);
    perfdata_reader_close(reader);
}

/* Every byte of header, attr and records, and of the features behind, takes these values in turn.
 */
static void one_wrong_byte_anywhere_harms_nobody(void **state)
{
    (void)state;
    static const uint8_t flips[] = {0x01, 0x08, 0x40, 0x80, 0xff};
    int fd = finished_capture();
    size_t size;
    uint8_t *bytes = file_bytes(fd, &size);
    for (size_t at = 0; at < size; at++)
        for (size_t i = 0; i < sizeof(flips); i++) {
            uint8_t wrong = bytes[at] ^ flips[i];
            assert_int_equal(io_pwrite(fd, &wrong, 1, at), 0);
            walk(fd);
            assert_int_equal(io_pwrite(fd, &bytes[at], 1, at), 0);
        }
    char *intact = print_file(fd);
    assert_non_null(strstr(intact, "exit 101/101"));
    free(intact);
    free(bytes);
    close(fd);
}

/* Eight bytes of ones or zeros in a row: sizes and offsets that overflow when they are added. */
static void one_extreme_word_anywhere_harms_nobody(void **state)
{
    (void)state;
    static const uint64_t words[] = {0, UINT64_MAX, INT64_MAX, UINT64_MAX - 7, 1u << 31};
    int fd = finished_capture();
    size_t size;
    uint8_t *bytes = file_bytes(fd, &size);
    for (size_t at = 0; at + 8 <= size; at += 4)
        for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
            assert_int_equal(io_pwrite(fd, &words[i], 8, at), 0);
            walk(fd);
            assert_int_equal(io_pwrite(fd, bytes + at, 8, at), 0);
        }
    free(bytes);
    close(fd);
}

static void records_before_a_broken_one_are_read(void **state)
{
    (void)state;
    int fd = finished_capture();
    struct perfdata_reader *reader = open_reader(fd);
    struct perfdata_event event;
    size_t size;
    uint8_t *bytes = file_bytes(fd, &size);
    uint64_t at = word_at(bytes, 40);
    for (int i = 0; i < 4; i++) /* round, comm, mapping, sample */
        at += word_at(bytes, (size_t)at) >> 48;
    static const uint8_t no_size[2];
    assert_int_equal(io_pwrite(fd, no_size, 2, at + 6), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(perfdata_next(reader, &event), 1);
    assert_int_equal(event.kind, PERFDATA_SAMPLE);
    assert_null(perfdata_damage(reader));
    assert_int_equal(perfdata_next(reader, &event), 0);
    char expected[64];
    snprintf(expected, sizeof(expected), "a record of impossible size at byte %llu",
             (unsigned long long)at);
    assert_memory_equal(perfdata_damage(reader), expected, strlen(expected));
    perfdata_rewind(reader);
    for (int i = 0; i < 4; i++)
        assert_int_equal(perfdata_next(reader, &event), 1);
    assert_int_equal(perfdata_next(reader, &event), 0);
    perfdata_reader_close(reader);
    free(bytes);
    close(fd);
}

/* perf record notes the size of its data only at its end. */
static void data_of_unknown_size_reaches_to_the_end(void **state)
{
    (void)state;
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    write_capture(writer);
    assert_int_equal(perfdata_checkpoint(writer), 0);
    perfdata_writer_close(writer);
    char *all = print_file(fd);
    static const uint8_t zero[8], half_record[] = {9, 0, 0, 0, 2, 0, 80, 0, 1, 2, 3};
    assert_int_equal(io_pwrite(fd, zero, 8, 48), 0);
    assert_int_equal(io_pwrite(fd, half_record, sizeof(half_record), file_size(fd)), 0);
    struct perfdata_reader *reader = open_reader(fd);
    assert_non_null(strstr(perfdata_damage(reader), "was not finished"));
    char *text = print_events(reader);
    assert_string_equal(text, all);
    free(text);
    free(all);
    perfdata_reader_close(reader);
    close(fd);
}

/* The open error of a file of these bytes. */
static void refused_with(const void *bytes, size_t size, const char *part)
{
    int fd = file_of(bytes, size);
    struct perfdata_reader *reader;
    struct error error = {0};
    assert_true(perfdata_reader_open(&reader, fd, "FILE", &error) < 0);
    assert_null(reader);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
    close(fd);
}

static void what_cannot_be_read_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const char pipe_header[16] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2', 16};
    refused_with("", 0, "empty");
    refused_with("PERF", 4, "too short");
    refused_with("#!/bin/sh\necho perf\n", 20, "not a perf.data file");
    refused_with("PERFFILE\x68\0\0\0\0\0\0\0", 16, "version 1");
    refused_with("PERFILE2\x68\0\0\0\0\0\0\0", 16, "truncated inside the header");
    refused_with(pipe_header, 16, "has no event descriptions");

    struct perfdata_reader *reader;
    struct error error = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(perfdata_reader_open(&reader, ends[0], "FILE", &error) < 0);
    assert_non_null(strstr(error.text, "not a regular file"));
    close(ends[0]);
    close(ends[1]);
}

static void refused_with_feature(unsigned bit, const char *part)
{
    int fd = finished_capture();
    size_t size;
    uint8_t *bytes = file_bytes(fd, &size);
    bytes[72 + bit / 8] |= (uint8_t)(1 << bit % 8);
    refused_with(bytes, size, part);
    free(bytes);
    close(fd);
}

static void a_file_of_a_directory_names_the_directory(void **state)
{
    (void)state;
    refused_with_feature(24, "give the directory");
}

static void a_compressed_record_of_anything_else_ends_the_reading(void **state)
{
    (void)state;
    for (uint8_t type = 81; type <= 83; type += 2) {
        int fd = finished_capture();
        size_t size;
        uint8_t *bytes = file_bytes(fd, &size);
        size_t second = (size_t)word_at(bytes, 40) + 8;
        assert_int_equal(io_pwrite(fd, &type, 1, second), 0);
        struct perfdata_reader *reader = open_reader(fd);
        char *text = print_events(reader);
        assert_string_equal(text, "round\n");
        assert_non_null(perfdata_damage(reader)); /* no zstd frame, or an impossible size */
        free(text);
        free(bytes);
        perfdata_reader_close(reader);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cut_at_any_byte_yields_a_prefix),
        cmocka_unit_test(one_wrong_byte_anywhere_harms_nobody),
        cmocka_unit_test(one_extreme_word_anywhere_harms_nobody),
        cmocka_unit_test(records_before_a_broken_one_are_read),
        cmocka_unit_test(data_of_unknown_size_reaches_to_the_end),
        cmocka_unit_test(what_cannot_be_read_is_refused_with_a_reason),
        cmocka_unit_test(a_file_of_a_directory_names_the_directory),
        cmocka_unit_test(a_compressed_record_of_anything_else_ends_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
