/* SPDX-License-Identifier: MIT */
/* Records in compressed records. What real perf compresses is tested through rec; here are the seams
 * that it puts where it likes, and bombs. */
#include "layout.h"

#if __has_include(<zstd.h>)
#include <zstd.h>

static const struct event small_event = {.sample_type = 1 | 1 << 8, .id = 5}; /* ip, period */

enum { SAMPLES = 200, SAMPLE_BYTES = 24 };

/* SAMPLES samples, back to back, as one piece. */
static struct buffer plain_records(void)
{
    struct file file = {0};
    for (uint64_t i = 0; i < SAMPLES; i++) {
        begin_record(&file, 9, 2), put64(&file, i), put64(&file, 2), end_record(&file);
    }
    assert_int_equal(file.bytes.size, SAMPLES * SAMPLE_BYTES);
    return file.bytes;
}

static void put_compressed(struct file *file, uint32_t type, const void *bytes, size_t size)
{
    begin_record(file, type, 0);
    if (type == 83)
        put64(file, size);
    buffer_append(&file->bytes, bytes, size);
    if (type == 83)
        buffer_zeros(&file->bytes, -size % 8);
    end_record(file);
}

static void expect_all_samples(struct file *file)
{
    int fd = end_file(file);
    struct perfdata_reader *reader = open_reader(fd);
    struct perfdata_event event;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        assert_int_equal(perfdata_next(reader, &event), 1);
        assert_int_equal(event.ip, i);
    }
    assert_int_equal(perfdata_next(reader, &event), 0);
    assert_null(perfdata_damage(reader));
    perfdata_reader_close(reader);
    close(fd);
}

/* Pieces of a size that is no multiple of a record's, of one stream. */
static void records_straddle_compressed_records(void **state)
{
    (void)state;
    for (uint32_t type = 81; type <= 83; type += 2) {
        struct file file = begin_file(false, &small_event, 1);
        struct buffer plain = plain_records();
        ZSTD_CStream *stream = ZSTD_createCStream();
        uint8_t bytes[4096];
        for (size_t at = 0; at < plain.size;) {
            size_t piece = plain.size - at < 37 ? plain.size - at : 37;
            ZSTD_inBuffer in = {plain.bytes + at, piece, 0};
            ZSTD_outBuffer out = {bytes, sizeof(bytes), 0};
            ZSTD_compressStream(stream, &out, &in);
            ZSTD_flushStream(stream, &out);
            put_compressed(&file, type, bytes, out.pos);
            at += piece;
        }
        ZSTD_freeCStream(stream);
        buffer_free(&plain);
        expect_all_samples(&file);
    }
}

static void frames_of_their_own_are_read_as_one_stream(void **state)
{
    (void)state;
    struct file file = begin_file(false, &small_event, 1);
    struct buffer plain = plain_records();
    uint8_t bytes[4096];
    for (size_t at = 0; at < plain.size; at += 100) {
        size_t piece = plain.size - at < 100 ? plain.size - at : 100;
        size_t size = ZSTD_compress(bytes, sizeof(bytes), plain.bytes + at, piece, 1);
        put_compressed(&file, 81, bytes, size);
    }
    buffer_free(&plain);
    expect_all_samples(&file);
}

/* 256 MiB of empty records in 8 KiB: more than any recording shrinks. */
static void a_bomb_is_refused(void **state)
{
    (void)state;
    struct file file = begin_file(false, &small_event, 1);
    static uint8_t records[1 << 16], bytes[1 << 16];
    for (size_t i = 0; i < sizeof(records); i += 8)
        records[i] = 68, records[i + 6] = 8;
    ZSTD_CStream *stream = ZSTD_createCStream();
    ZSTD_outBuffer out = {bytes, sizeof(bytes), 0};
    for (int i = 0; i < 4096; i++) {
        ZSTD_inBuffer in = {records, sizeof(records), 0};
        ZSTD_compressStream(stream, &out, &in);
    }
    ZSTD_endStream(stream, &out);
    ZSTD_freeCStream(stream);
    put_compressed(&file, 81, bytes, out.pos);
    int fd = end_file(&file);
    struct perfdata_reader *reader = open_reader(fd);
    struct perfdata_event event;
    while (perfdata_next(reader, &event) == 1)
        ;
    assert_non_null(strstr(perfdata_damage(reader), "beyond the limit"));
    perfdata_reader_close(reader);
    close(fd);
}

static void a_stream_that_ends_early_is_damage(void **state)
{
    (void)state;
    struct file file = begin_file(false, &small_event, 1);
    struct buffer plain = plain_records();
    uint8_t bytes[4096];
    put_compressed(&file, 81, bytes, ZSTD_compress(bytes, sizeof(bytes), plain.bytes, 30, 1));
    buffer_free(&plain);
    int fd = end_file(&file);
    struct perfdata_reader *reader = open_reader(fd);
    char *text = print_events(reader);
    assert_string_equal(text, "sample #0 0/0 @0 ip 0 period 2 cpu -1 chain\n");
    assert_non_null(strstr(perfdata_damage(reader), "end inside a record"));
    free(text);
    perfdata_reader_close(reader);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_straddle_compressed_records),
        cmocka_unit_test(frames_of_their_own_are_read_as_one_stream),
        cmocka_unit_test(a_bomb_is_refused),
        cmocka_unit_test(a_stream_that_ends_early_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 77; /* no libzstd to build with */
}
#endif
