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

/* Completes the file, and yields it to read. */
static inline int end_file(struct file *file)
{
    finish_file(file);
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
