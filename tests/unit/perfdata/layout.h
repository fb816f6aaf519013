/* SPDX-License-Identifier: MIT */
/*
 * Files as kernels and perf versions of all kinds write them, in both byte orders, with features, and read
 * again.
 */
#pragma once

#include "capture.h"
#include "perf_file.h"

static inline void put_text(struct file *file, const char *text, size_t padded)
{
    buffer_text(&file->bytes, text);
    buffer_zeros(&file->bytes, padded - strlen(text));
}

/* Patches sizes, adds the features, and yields a file to read. */
static inline int end_file(struct file *file)
{
    size_t data_end = file->bytes.size, count = 0;
    uint64_t words[4] = {0};
    patch64(file, 48, data_end - file->data);
    for (size_t bit = 0; bit < 256; bit++)
        if (file->features[bit].size) {
            words[bit / 64] |= UINT64_C(1) << bit % 64;
            count++;
        }
    for (size_t i = 0; i < 4; i++)
        patch64(file, 72 + 8 * i, words[i]);
    size_t payload = data_end + 16 * count;
    for (size_t bit = 0; bit < 256; bit++)
        if (file->features[bit].size) {
            put64(file, payload);
            put64(file, file->features[bit].size);
            payload += file->features[bit].size;
        }
    for (size_t bit = 0; bit < 256; bit++) {
        buffer_append(&file->bytes, file->features[bit].bytes, file->features[bit].size);
        buffer_free(&file->features[bit]);
    }
    assert_false(file->bytes.failed);
    int fd = memory_file();
    assert_int_equal(io_pwrite(fd, file->bytes.bytes, file->bytes.size, 0), 0);
    buffer_free(&file->bytes);
    return fd;
}

static inline void expect_events(struct file *file, const char *expected)
{
    int fd = end_file(file);
    struct perfdata_reader *reader = open_reader(fd);
    char *text = print_events(reader);
    assert_string_equal(text, expected);
    assert_null(perfdata_damage(reader));
    free(text);
    perfdata_reader_close(reader);
    close(fd);
}
