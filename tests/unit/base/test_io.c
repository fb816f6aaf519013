/* SPDX-License-Identifier: MIT */
/* Each test has an empty directory of its own as its working directory. */
#include "base/io.h"

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

static char directory[64];

static int enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/rec-test-io.XXXXXX");
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state)
{
    (void)state;
    DIR *listing = opendir(".");
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        unlink(entry->d_name);
    closedir(listing);
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static size_t files_here(void)
{
    size_t count = 0;
    DIR *listing = opendir(".");
    for (struct dirent *entry; (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    assert_true(fd >= 0);
    assert_int_equal(io_write(fd, text, strlen(text)), 0);
    close(fd);
}

static void assert_content(const char *path, const char *text)
{
    struct buffer buffer = {0};
    assert_int_equal(io_read_file(path, &buffer, 1000), 0);
    assert_int_equal(buffer.size, strlen(text));
    assert_memory_equal(buffer.bytes, text, buffer.size);
    buffer_free(&buffer);
}

static void a_new_file_is_invisible_until_it_is_complete(void **state)
{
    (void)state;
    struct out_file out;
    assert_int_equal(out_open(&out, "new", NULL), 0);
    assert_int_equal(io_write(out.fd, "text", 4), 0);
    assert_int_equal(access("new", F_OK), -1);
    assert_int_equal(out_commit(&out, NULL), 0);
    assert_content("new", "text");
    assert_int_equal(files_here(), 1);
}

static void an_existing_file_is_replaced_at_once_or_kept(void **state)
{
    (void)state;
    struct out_file out;
    write_file("file", "old");
    assert_int_equal(out_open(&out, "file", NULL), 0);
    assert_int_equal(io_write(out.fd, "newer", 5), 0);
    assert_content("file", "old");
    out_discard(&out);
    assert_content("file", "old");
    assert_int_equal(files_here(), 1);
    assert_int_equal(out_open(&out, "file", NULL), 0);
    assert_int_equal(io_write(out.fd, "newer", 5), 0);
    assert_int_equal(out_commit(&out, NULL), 0);
    assert_content("file", "newer");
    assert_int_equal(files_here(), 1);
}

static void files_follow_the_umask(void **state)
{
    (void)state;
    struct out_file out;
    struct stat status;
    mode_t before = umask(027);
    assert_int_equal(out_open(&out, "file", NULL), 0);
    assert_int_equal(out_commit(&out, NULL), 0);
    umask(before);
    assert_int_equal(stat("file", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

static void a_missing_directory_is_named(void **state)
{
    (void)state;
    struct out_file out;
    struct error error = {{0}};
    assert_int_equal(out_open(&out, "missing/file", &error), -ENOENT);
    assert_non_null(strstr(error.text, "missing/file"));
    out_discard(&out);
    assert_int_equal(files_here(), 0);
}

static void names_that_are_too_long_are_refused(void **state)
{
    (void)state;
    char name[5000];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct out_file out;
    assert_int_equal(out_open(&out, name, NULL), -ENAMETOOLONG);
}

static void whoever_reads_from_a_named_pipe_gets_what_is_written(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    struct out_file out;
    assert_int_equal(out_check("pipe", NULL), 0);
    assert_int_equal(out_open(&out, "pipe", NULL), 0);
    assert_int_equal(io_write(out.fd, "text", 4), 0);
    assert_int_equal(out_commit(&out, NULL), 0);
    char bytes[5] = {0};
    assert_int_equal(read(reader, bytes, sizeof(bytes)), 4);
    assert_string_equal(bytes, "text");
    close(reader);
    assert_int_equal(files_here(), 1);
}

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

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(a_new_file_is_invisible_until_it_is_complete),
        IN_DIRECTORY(an_existing_file_is_replaced_at_once_or_kept),
        IN_DIRECTORY(files_follow_the_umask),
        IN_DIRECTORY(a_missing_directory_is_named),
        IN_DIRECTORY(names_that_are_too_long_are_refused),
        IN_DIRECTORY(whoever_reads_from_a_named_pipe_gets_what_is_written),
        IN_DIRECTORY(reading_stops_at_the_limit),
        IN_DIRECTORY(files_of_proc_are_read_to_their_end),
        IN_DIRECTORY(reading_at_an_offset_knows_the_end),
        IN_DIRECTORY(pipes_are_written_and_read_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
