/* SPDX-License-Identifier: MIT */
/* Each test has an empty directory of its own as its working directory. */
#include "base/files/out_file.h"

#include "base/files/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "in_directory.h"

static size_t files_here(void)
{
    size_t count = 0;
    DIR *listing = opendir(".");
    for (struct dirent *entry; (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void a_new_file_is_invisible_until_it_is_complete(void **state)
{
    (void)state;
    struct out_file out;
    assert_int_equal(out_open(&out, "new", geteuid(), NULL), 0);
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
    assert_int_equal(out_open(&out, "file", geteuid(), NULL), 0);
    assert_int_equal(io_write(out.fd, "newer", 5), 0);
    assert_content("file", "old");
    out_discard(&out);
    assert_content("file", "old");
    assert_int_equal(files_here(), 1);
    assert_int_equal(out_open(&out, "file", geteuid(), NULL), 0);
    assert_int_equal(io_write(out.fd, "newer", 5), 0);
    assert_int_equal(out_commit(&out, NULL), 0);
    assert_content("file", "newer");
    assert_int_equal(files_here(), 1);
}

static void files_are_private_whatever_the_umask_and_the_file_before(void **state)
{
    (void)state;
    struct out_file out;
    struct stat status;
    write_file("file", "old");
    assert_int_equal(chmod("file", 0666), 0);
    mode_t before = umask(0);
    assert_int_equal(out_open(&out, "file", geteuid(), NULL), 0);
    assert_int_equal(out_commit(&out, NULL), 0);
    umask(before);
    assert_int_equal(stat("file", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void a_link_is_replaced_and_its_target_stays(void **state)
{
    (void)state;
    struct out_file out;
    struct stat status;
    write_file("target", "stays");
    assert_int_equal(symlink("target", "link"), 0);
    assert_int_equal(out_open(&out, "link", geteuid(), NULL), 0);
    assert_int_equal(io_write(out.fd, "new", 3), 0);
    assert_int_equal(out_commit(&out, NULL), 0);
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_content("link", "new");
    assert_content("target", "stays");
    assert_int_equal(files_here(), 2);
}

static void the_directory_is_the_one_of_the_opening_whatever_its_name_is_then(void **state)
{
    (void)state;
    struct out_file out;
    assert_int_equal(mkdir("parent", 0700), 0);
    assert_int_equal(mkdir("outside", 0700), 0);
    assert_int_equal(out_open(&out, "parent/file", geteuid(), NULL), 0);
    assert_int_equal(io_write(out.fd, "text", 4), 0);
    assert_int_equal(rename("parent", "moved"), 0);
    assert_int_equal(symlink("outside", "parent"), 0);
    assert_int_equal(out_commit(&out, NULL), 0);
    assert_content("moved/file", "text");
    assert_int_equal(unlink("moved/file"), 0);
    assert_int_equal(rmdir("moved"), 0);
    assert_int_equal(rmdir("outside"), 0); /* it is empty */
}

static void directories_and_sockets_are_refused(void **state)
{
    (void)state;
    struct out_file out;
    struct error error = {{0}};
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
    assert_int_equal(out_check("socket", geteuid(), &error), -EINVAL);
    assert_non_null(strstr(error.text, "not a regular file"));
    assert_int_equal(mkdir("directory", 0700), 0);
    assert_int_equal(out_check("directory", geteuid(), &error), -EISDIR);
    assert_int_equal(out_open(&out, ".", geteuid(), &error), -EISDIR);
    assert_int_equal(out_open(&out, "..", geteuid(), &error), -EISDIR);
    assert_int_equal(out_open(&out, "/", geteuid(), &error), -EISDIR);
    assert_int_equal(out_open(&out, "", geteuid(), &error), -ENOENT);
    assert_int_equal(rmdir("directory"), 0);
}

static void a_missing_directory_is_named(void **state)
{
    (void)state;
    struct out_file out;
    struct error error = {{0}};
    assert_int_equal(out_open(&out, "missing/file", geteuid(), &error), -ENOENT);
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
    assert_int_equal(out_open(&out, name, geteuid(), NULL), -ENAMETOOLONG);
}

static void the_reader_of_a_fifo_gets_what_is_written(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    struct out_file out;
    assert_int_equal(out_check("pipe", geteuid(), NULL), 0);
    assert_int_equal(out_open(&out, "pipe", geteuid(), NULL), 0);
    assert_int_equal(io_write(out.fd, "text", 4), 0);
    assert_int_equal(out_commit(&out, NULL), 0);
    char bytes[5] = {0};
    assert_int_equal(read(reader, bytes, sizeof(bytes)), 4);
    assert_string_equal(bytes, "text");
    close(reader);
    assert_int_equal(files_here(), 1);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

static void *exchange_names(void *is_over)
{
    while (!__atomic_load_n((bool *)is_over, __ATOMIC_ACQUIRE))
        (void)renameat2(AT_FDCWD, "fifo", AT_FDCWD, "link", RENAME_EXCHANGE);
    return NULL;
}

/* Another user owns the directory and exchanges the names. */
static void what_was_judged_is_opened(void **state)
{
    (void)state;
    bool is_over = false;
    pthread_t other;
    struct out_file out;
    struct stat status;
    write_file("victim", "");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink("victim", "link"), 0);
    int reader = open("fifo", O_RDWR);
    assert_int_equal(pthread_create(&other, NULL, exchange_names, &is_over), 0);
    for (int i = 0; i < 20000; i++) {
        if (out_open(&out, "fifo", geteuid(), NULL) != 0)
            continue;
        assert_int_equal(fstat(out.fd, &status), 0);
        assert_true(S_ISFIFO(status.st_mode) == out.is_in_place);
        out_discard(&out);
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
    close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(a_new_file_is_invisible_until_it_is_complete),
        IN_DIRECTORY(an_existing_file_is_replaced_at_once_or_kept),
        IN_DIRECTORY(files_are_private_whatever_the_umask_and_the_file_before),
        IN_DIRECTORY(a_link_is_replaced_and_its_target_stays),
        IN_DIRECTORY(the_directory_is_the_one_of_the_opening_whatever_its_name_is_then),
        IN_DIRECTORY(directories_and_sockets_are_refused),
        IN_DIRECTORY(a_missing_directory_is_named),
        IN_DIRECTORY(names_that_are_too_long_are_refused),
        IN_DIRECTORY(the_reader_of_a_fifo_gets_what_is_written),
        IN_DIRECTORY(what_was_judged_is_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
