/* SPDX-License-Identifier: MIT */
/*
 * The writer may be killed between any two of its writes. pwrite() is replaced here by one that
 * copies the file after each write: every copy must be a valid file.
 */
#include "capture.h"

#include "perfdata/zstd/pack.h"

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

static void check_validity_after_each_write(int level)
{
    int fd = memory_file();
    is_watching = true;
    struct perfdata_writer *writer = open_packing_writer(fd, level);
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
        assert_int_equal(perfdata_is_unfinished(reader), i + 1 < snapshot_count);
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

static void a_recording_is_valid_after_each_write(void **state)
{
    (void)state;
    check_validity_after_each_write(0);
}

static void a_compressed_recording_is_valid_after_each_write(void **state)
{
    (void)state;
    if (!pack_is_there())
        skip();
    check_validity_after_each_write(1);
}

static void a_compressed_recording_says_so_and_is_smaller(void **state)
{
    (void)state;
    if (!pack_is_there())
        skip();
    size_t bytes[2], feature_bytes;
    for (int level = 0; level < 2; level++) {
        int fd = memory_file();
        struct perfdata_writer *writer = open_packing_writer(fd, level);
        for (int i = 0; i < 2000; i++)
            write_capture(writer);
        assert_int_equal(perfdata_finish(writer), 0);
        perfdata_writer_close(writer);
        bytes[level] = file_size(fd);
        struct perfdata_reader *reader = open_reader(fd);
        (void)perfdata_feature(reader, 27, &feature_bytes);
        assert_int_equal(feature_bytes, level ? 20 : 0);
        perfdata_reader_close(reader);
        close(fd);
    }
    assert_true(bytes[1] < bytes[0] / 3);
}

/* What was written until the disk was full remains readable. */
static void check_full_disk(int level)
{
    for (size_t limit = 300; limit < 3000; limit += 100) {
        int fd = memory_file();
        struct perfdata_writer *writer = open_packing_writer(fd, level);
        disk_bytes = limit;
        int err = 0;
        for (int i = 0; i < 100 && err == 0; i++) {
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

static void a_full_disk_ends_the_recording_at_a_record(void **state)
{
    (void)state;
    check_full_disk(0);
    if (pack_is_there())
        check_full_disk(1);
}

/* The payloads of perf's own features, in hex; "" when the file has none. */
static char *print_features(struct perfdata_reader *reader)
{
    struct buffer out = {0};
    for (unsigned bit = 0; bit < 64; bit++) {
        size_t size;
        const uint8_t *payload = perfdata_feature(reader, bit, &size);
        for (size_t i = 0; i < size; i++)
            buffer_printf(&out, "%s%02x", i ? "" : "\n", payload[i]);
    }
    buffer_u8(&out, 0);
    assert_false(out.failed);
    return (char *)out.bytes;
}

struct content {
    char *events, *features; /* owned */
    char private[2][16];     /* 240 and 241 */
};

static struct content content_of(int fd)
{
    struct perfdata_reader *reader = open_reader(fd);
    struct content content = {.features = print_features(reader), .events = print_events(reader)};
    for (unsigned i = 0; i < 2; i++) {
        size_t size;
        const uint8_t *payload = perfdata_feature(reader, 240 + i, &size);
        snprintf(content.private[i], sizeof(content.private[i]), "%.*s", (int)size,
                 payload ? (const char *)payload : "");
    }
    assert_null(perfdata_damage(reader));
    perfdata_reader_close(reader);
    return content;
}

static void content_free(struct content *content)
{
    free(content->events);
    free(content->features);
}

/* A finished recording with one private feature. */
static int capture_with_feature(unsigned bit, const char *text)
{
    int fd = memory_file();
    struct perfdata_writer *writer = open_writer(fd);
    write_capture(writer);
    assert_int_equal(perfdata_set_feature(writer, bit, text, strlen(text)), 0);
    assert_int_equal(perfdata_finish(writer), 0);
    perfdata_writer_close(writer);
    return fd;
}

static void expect_before_or_after(const struct content *seen, const struct content *before,
                                   const struct content *after)
{
    bool is_after = memcmp(seen->private, after->private, sizeof(seen->private)) == 0;
    bool is_before = memcmp(seen->private, before->private, sizeof(seen->private)) == 0;
    assert_true(is_before || is_after);
    assert_string_equal(seen->features, before->features);
}

/* Replaces a feature under watch: each snapshot and the result hold the same events, and the
 * features as before or as after; or none, where that is allowed. */
static void replace_and_compare(int fd, unsigned bit, const char *text, bool may_have_none)
{
    struct error error = {0};
    struct content before = content_of(fd);
    is_watching = true;
    assert_int_equal(perfdata_replace_feature(fd, bit, text, strlen(text), &error), 0);
    is_watching = false;
    struct content after = content_of(fd);
    assert_string_equal(after.private[bit - 240], text);
    assert_string_equal(after.private[241 - bit], before.private[241 - bit]);
    assert_string_equal(after.features, before.features);
    assert_true(snapshot_count > 0);
    for (size_t i = 0; i < snapshot_count; i++) {
        struct content seen = content_of(snapshots[i]);
        assert_string_equal(seen.events, before.events);
        if (seen.features[0] || !may_have_none)
            expect_before_or_after(&seen, &before, &after);
        content_free(&seen);
    }
    forget_snapshots();
    content_free(&before);
    content_free(&after);
}

static void a_last_feature_is_added_without_losing_any_at_any_time(void **state)
{
    (void)state;
    int fd = capture_with_feature(240, "summary");
    replace_and_compare(fd, 241, "names", false);
    replace_and_compare(fd, 241, "longer names", false);
    replace_and_compare(fd, 240, "x", false);
    close(fd);
}

static void a_feature_in_the_midst_is_added(void **state)
{
    (void)state;
    int fd = capture_with_feature(241, "names");
    replace_and_compare(fd, 240, "summary", true);
    replace_and_compare(fd, 240, "other summary", false);
    close(fd);
}

static void the_same_payload_again_changes_nothing(void **state)
{
    (void)state;
    struct error error;
    int fd = capture_with_feature(240, "summary");
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
    int fd = capture_with_feature(240, "summary");
    struct content before = content_of(fd);
    disk_bytes = file_size(fd);
    assert_int_equal(perfdata_replace_feature(fd, 241, "names", 5, &error), -ENOSPC);
    assert_non_null(strstr(error.text, "No space left"));
    disk_bytes = SIZE_MAX;
    struct content after = content_of(fd);
    expect_before_or_after(&after, &before, &before);
    content_free(&before);
    content_free(&after);
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
    assert_true(perfdata_is_unfinished(reader));
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
    int fd = capture_with_feature(240, "summary");
    refuses(fd, 12, 5, "outside of the private range");
    refuses(fd, 241, 0, "empty");
    assert_int_equal(ftruncate(fd, (off_t)file_size(fd) - 8), 0);
    refuses(fd, 241, 5, "damaged");
    assert_int_equal(ftruncate(fd, 400), 0);
    refuses(fd, 241, 5, "truncated");
    assert_int_equal(ftruncate(fd, 0), 0);
    refuses(fd, 241, 5, "empty");
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_is_valid_after_each_write),
        cmocka_unit_test(a_compressed_recording_is_valid_after_each_write),
        cmocka_unit_test(a_compressed_recording_says_so_and_is_smaller),
        cmocka_unit_test(a_full_disk_ends_the_recording_at_a_record),
        cmocka_unit_test(a_last_feature_is_added_without_losing_any_at_any_time),
        cmocka_unit_test(a_feature_in_the_midst_is_added),
        cmocka_unit_test(the_same_payload_again_changes_nothing),
        cmocka_unit_test(a_full_disk_leaves_the_features_alone),
        cmocka_unit_test(an_unfinished_recording_takes_a_feature),
        cmocka_unit_test(what_cannot_be_stored_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
