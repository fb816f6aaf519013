/* SPDX-License-Identifier: MIT */
/*
 * The writer may be killed between any two of its writes. pwrite() is replaced here by one that
 * copies the file after each write: every copy must be a valid file.
 */
#include "capture.h"

#include <errno.h>
#include <sys/syscall.h>

static int snapshots[64];
static size_t snapshot_count;
static bool is_watching;
static size_t disk_bytes = SIZE_MAX; /* writes behind fail with ENOSPC */

static void take_snapshot(int fd)
{
    size_t size;
    is_watching = false;
    uint8_t *bytes = file_bytes(fd, &size);
    assert_true(snapshot_count < sizeof(snapshots) / sizeof(*snapshots));
    snapshots[snapshot_count] = memory_file();
    assert_int_equal(io_pwrite(snapshots[snapshot_count++], bytes, size, 0), 0);
    free(bytes);
    is_watching = true;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    if ((size_t)offset >= disk_bytes) {
        errno = ENOSPC;
        return -1;
    }
    if (size > disk_bytes - (size_t)offset)
        size = disk_bytes - (size_t)offset;
    long written = syscall(SYS_pwrite64, fd, bytes, size, offset);
    if (is_watching)
        take_snapshot(fd);
    return written;
}

static void forget_snapshots(void)
{
    is_watching = false;
    for (size_t i = 0; i < snapshot_count; i++)
        close(snapshots[i]);
    snapshot_count = 0;
}

static void a_recording_is_valid_after_each_write(void **state)
{
    (void)state;
    int fd = memory_file();
    is_watching = true;
    struct perfdata_writer *writer = open_writer(fd);
    for (int i = 0; i < 3; i++) {
        write_capture(writer);
        assert_int_equal(perfdata_checkpoint(writer), 0);
    }
    for (int i = 0; i < 2000; i++) /* more than one batch */
        write_capture(writer);
    assert_int_equal(perfdata_finish(writer), 0);
    is_watching = false;
    perfdata_writer_close(writer);

    char *all = print_file(fd);
    size_t last_length = 0;
    assert_true(snapshot_count > 10);
    for (size_t i = 0; i < snapshot_count; i++) {
        struct perfdata_reader *reader = open_reader(snapshots[i]);
        char *text = print_events(reader);
        size_t length = strlen(text);
        assert_null(perfdata_damage(reader));
        assert_true(length >= last_length);
        assert_memory_equal(text, all, length);
        last_length = length;
        perfdata_reader_close(reader);
        free(text);
    }
    assert_int_equal(last_length, strlen(all));
    free(all);
    forget_snapshots();
    close(fd);
}

/* What was written until the disk was full remains readable. */
static void a_full_disk_ends_the_recording_at_a_record(void **state)
{
    (void)state;
    for (size_t limit = 300; limit < 3000; limit += 100) {
        int fd = memory_file();
        struct perfdata_writer *writer = open_writer(fd);
        disk_bytes = limit;
        int err = 0;
        for (int i = 0; i < 10 && err == 0; i++) {
            write_capture(writer);
            err = perfdata_checkpoint(writer);
        }
        assert_int_equal(err, -ENOSPC);
        assert_int_equal(perfdata_finish(writer), -ENOSPC);
        disk_bytes = SIZE_MAX;
        perfdata_writer_close(writer);
        struct perfdata_reader *reader = open_reader(fd);
        char *text = print_events(reader);
        assert_null(perfdata_damage(reader));
        assert_memory_equal(text, "round\n", 6);
        perfdata_reader_close(reader);
        free(text);
        close(fd);
    }
}

/* Asserts that the features of the file are all there, or none; true when they are. */
static bool has_all_features(int fd, const char *first, const char *second)
{
    struct perfdata_reader *reader = open_reader(fd);
    size_t first_size, second_size;
    const uint8_t *payload = perfdata_feature(reader, 240, &first_size);
    const uint8_t *added = perfdata_feature(reader, 241, &second_size);
    assert_null(perfdata_damage(reader));
    assert_int_equal(perfdata_facts(reader)->argc, payload ? 3 : 0);
    assert_string_equal(perfdata_attr(reader, 0)->name, payload ? "cpu-clock:u" : "cpu-clock");
    if (payload) {
        assert_int_equal(first_size, strlen(first));
        assert_memory_equal(payload, first, first_size);
    }
    if (added) {
        assert_int_equal(second_size, strlen(second));
        assert_memory_equal(added, second, second_size);
    }
    bool all = payload && added;
    perfdata_reader_close(reader);
    return all;
}

static int capture_with_summary(void)
{
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    write_capture(writer);
    assert_int_equal(perfdata_set_feature(writer, 240, "summary", 7), 0);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    return fd;
}

static void expect_valid_snapshots(const char *events, const char *summary, const char *names)
{
    assert_true(snapshot_count > 0);
    for (size_t i = 0; i < snapshot_count; i++) {
        char *text = print_file(snapshots[i]);
        assert_string_equal(text, events);
        free(text);
        has_all_features(snapshots[i], summary, names);
    }
    forget_snapshots();
}

static void a_feature_is_added_and_replaced_crash_safely(void **state)
{
    (void)state;
    static const char *const payloads[] = {"names", "longer names", "x"};
    struct error error;
    int fd = capture_with_summary();
    char *events = print_file(fd);
    assert_false(has_all_features(fd, "summary", ""));
    for (size_t i = 0; i < 3; i++) {
        is_watching = i == 0; /* later ones hold the new payload or the one before */
        assert_int_equal(
            perfdata_replace_feature(fd, 241, payloads[i], strlen(payloads[i]), &error), 0);
        is_watching = false;
        assert_true(has_all_features(fd, "summary", payloads[i]));
        if (i == 0)
            expect_valid_snapshots(events, "summary", payloads[0]);
    }
    char *text = print_file(fd);
    assert_string_equal(text, events);
    free(text);
    free(events);
    close(fd);
}

static void replacing_shows_the_old_payload_or_the_new(void **state)
{
    (void)state;
    struct error error;
    int fd = capture_with_summary();
    is_watching = true;
    assert_int_equal(perfdata_replace_feature(fd, 240, "another", 7, &error), 0);
    is_watching = false;
    assert_int_equal(snapshot_count, 2); /* payload, entry */
    has_all_features(snapshots[0], "summary", "");
    has_all_features(snapshots[1], "another", "");
    forget_snapshots();
    close(fd);
}

static void the_same_payload_again_changes_nothing(void **state)
{
    (void)state;
    struct error error;
    int fd = capture_with_summary();
    is_watching = true;
    assert_int_equal(perfdata_replace_feature(fd, 240, "summary", 7, &error), 0);
    is_watching = false;
    assert_int_equal(snapshot_count, 0);
    close(fd);
}

static void a_full_disk_leaves_the_features_alone(void **state)
{
    (void)state;
    struct error error;
    int fd = capture_with_summary();
    disk_bytes = file_size(fd);
    assert_int_equal(perfdata_replace_feature(fd, 241, "names", 5, &error), -ENOSPC);
    assert_non_null(strstr(error.text, "No space left"));
    disk_bytes = SIZE_MAX;
    assert_false(has_all_features(fd, "summary", ""));
    struct perfdata_reader *reader = open_reader(fd);
    assert_int_equal(perfdata_facts(reader)->argc, 3);
    perfdata_reader_close(reader);
    close(fd);
}

/* A recording whose recorder was killed can still take names. */
static void an_unfinished_recording_takes_a_feature(void **state)
{
    (void)state;
    struct error error;
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    write_capture(writer);
    assert_int_equal(perfdata_checkpoint(writer), 0);
    perfdata_writer_close(writer);
    char *events = print_file(fd);
    assert_int_equal(perfdata_replace_feature(fd, 241, "names", 5, &error), 0);
    struct perfdata_reader *reader = open_reader(fd);
    size_t size;
    const uint8_t *payload = perfdata_feature(reader, 241, &size);
    assert_int_equal(size, 5);
    assert_memory_equal(payload, "names", 5);
    char *text = print_events(reader);
    assert_string_equal(text, events);
    assert_null(perfdata_damage(reader));
    perfdata_reader_close(reader);
    free(text);
    free(events);
    close(fd);
}

static void refuses(int fd, unsigned bit, size_t size, const char *part)
{
    struct error error = {0};
    size_t before = file_size(fd);
    assert_true(perfdata_replace_feature(fd, bit, "names", size, &error) < 0);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
    assert_int_equal(file_size(fd), before);
}

static void what_cannot_be_stored_is_refused(void **state)
{
    (void)state;
    int fd = capture_with_summary();
    refuses(fd, 12, 5, "not a private one");
    refuses(fd, 241, 0, "empty");
    assert_int_equal(ftruncate(fd, (off_t)file_size(fd) - 8), 0);
    refuses(fd, 241, 5, "damaged");
    assert_int_equal(ftruncate(fd, 400), 0);
    refuses(fd, 241, 5, "cut off");
    assert_int_equal(ftruncate(fd, 0), 0);
    refuses(fd, 241, 5, "empty");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_is_valid_after_each_write),
        cmocka_unit_test(a_full_disk_ends_the_recording_at_a_record),
        cmocka_unit_test(a_feature_is_added_and_replaced_crash_safely),
        cmocka_unit_test(replacing_shows_the_old_payload_or_the_new),
        cmocka_unit_test(the_same_payload_again_changes_nothing),
        cmocka_unit_test(a_full_disk_leaves_the_features_alone),
        cmocka_unit_test(an_unfinished_recording_takes_a_feature),
        cmocka_unit_test(what_cannot_be_stored_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
