/* SPDX-License-Identifier: MIT */
/* Each test has an empty directory of its own as its working directory. */
#include "base/files/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "in_directory.h"

static void reading_stops_at_the_limit(void **state)
{
    (void)state;
    write_file("file", "0123456789");
    struct buffer buffer = {0};
    assert_int_equal(io_read_file("file", &buffer, 9), -EFBIG);
    buffer_clear(&buffer);
    assert_int_equal(io_read_file("file", &buffer, 10), 0);
    assert_int_equal(buffer.size, 10);
    buffer_free(&buffer);
}

static void files_of_proc_are_read_to_their_end(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    assert_int_equal(io_read_file("/proc/self/status", &buffer, 1 << 20), 0);
    buffer_u8(&buffer, 0);
    assert_non_null(strstr((const char *)buffer.bytes, "Pid:"));
    buffer_free(&buffer);
}

static void reading_at_an_offset_knows_the_end(void **state)
{
    (void)state;
    write_file("file", "0123456789");
    int fd = open("file", O_RDWR);
    char bytes[4];
    assert_int_equal(io_pread(fd, bytes, 4, 6), 0);
    assert_memory_equal(bytes, "6789", 4);
    assert_int_equal(io_pread(fd, bytes, 4, 7), -ENODATA);
    assert_int_equal(io_pwrite(fd, "ab", 2, 8), 0);
    close(fd);
    assert_content("file", "01234567ab");
}

static void pipes_are_written_and_read_whole(void **state)
{
    (void)state;
    int ends[2];
    static char bytes[30000];
    memset(bytes, 'p', sizeof(bytes));
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(io_write(ends[1], bytes, sizeof(bytes)), 0);
    close(ends[1]);
    struct buffer buffer = {0};
    assert_int_equal(io_read_all(ends[0], &buffer, sizeof(bytes)), 0);
    assert_int_equal(buffer.size, sizeof(bytes));
    close(ends[0]);
    buffer_free(&buffer);
}

static void holes_are_not_stored(void **state)
{
    (void)state;
    struct stat status;
    write_file("file", "0123456789");
    assert_int_equal(truncate("file", 1 << 30), 0);
    assert_int_equal(stat("file", &status), 0);
    assert_true(io_stored_bytes(&status) < 1 << 20);
    status = (struct stat){.st_size = 100, .st_blocks = 8};
    assert_int_equal(io_stored_bytes(&status), 100);
    status = (struct stat){.st_size = INT64_MAX, .st_blocks = INT64_MAX};
    assert_int_equal(io_stored_bytes(&status), INT64_MAX);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(reading_stops_at_the_limit),
        IN_DIRECTORY(files_of_proc_are_read_to_their_end),
        IN_DIRECTORY(reading_at_an_offset_knows_the_end),
        IN_DIRECTORY(pipes_are_written_and_read_whole),
        IN_DIRECTORY(holes_are_not_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
