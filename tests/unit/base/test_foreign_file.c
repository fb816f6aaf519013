/* SPDX-License-Identifier: MIT */
#include "base/files/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

static char directory[] = "/tmp/foreign-XXXXXX";
static const struct rights other = {.uid = 65534, .gid = 65534};

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) && chmod(directory, 0755) == 0 && chdir(directory) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void make_file(const char *name, const char *text, mode_t mode)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
    assert_int_equal(chmod(name, mode), 0);
}

/* How often an object was opened since the watch began; the kernel reports all opens but those with O_PATH. */
static int watch_opens(const char *path)
{
    int watch = inotify_init1(IN_NONBLOCK);
    assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) >= 0);
    return watch;
}

static bool was_opened(int watch)
{
    char events[4096];
    bool was = read(watch, events, sizeof(events)) > 0;
    close(watch);
    return was;
}

static void is_refused_unopened(const char *object, const char *path)
{
    int watch = watch_opens(object);
    assert_int_equal(foreign_file_open(path, NULL, NULL), -ENOEXEC);
    assert_false(was_opened(watch));
    watch = watch_opens(object);
    int fd = open(object, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0)
        close(fd);
    assert_true(fd < 0 || was_opened(watch)); /* the watch works */
}

static void a_regular_file_is_opened_for_reading(void **state)
{
    (void)state;
    char text[8] = "";
    struct stat status, expected;
    make_file("file", "text", 0644);
    int fd = foreign_file_open("file", NULL, &status);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, sizeof(text)), 4);
    assert_memory_equal(text, "text", 4);
    assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(stat("file", &expected), 0);
    assert_true(status.st_ino == expected.st_ino && status.st_size == 4);
    close(fd);
}

static void links_are_followed_unless_refused(void **state)
{
    (void)state;
    assert_int_equal(symlink("file", "link"), 0);
    int fd = foreign_file_open("link", NULL, NULL);
    assert_true(fd >= 0);
    close(fd);
    fd = foreign_file_find(0, "link", O_NOFOLLOW, NULL);
    assert_int_equal(foreign_file_reopen(fd, NULL, NULL), -ELOOP);
}

static void what_is_not_there_is_reported(void **state)
{
    (void)state;
    assert_int_equal(foreign_file_open("missing", NULL, NULL), -ENOENT);
    assert_int_equal(foreign_file_open("file/below", NULL, NULL), -ENOTDIR);
    assert_int_equal(foreign_file_open("", NULL, NULL), -ENOENT);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(foreign_file_open("loop", NULL, NULL), -ELOOP);
}

static void a_device_is_not_opened(void **state)
{
    (void)state;
    if (mknod("device", S_IFCHR | 0666, makedev(1, 3)) != 0)
        skip(); /* without privileges there are no new devices */
    assert_int_equal(symlink("device", "link_to_device"), 0);
    is_refused_unopened("device", "device");
    is_refused_unopened("device", "link_to_device");
}

/* Regular by their mode; reading /proc/kmsg takes messages away. */
static void files_of_the_kernel_are_not_opened(void **state)
{
    (void)state;
    static const char *const paths[] = {"/proc/version", "/proc/self/status", "/sys/kernel/notes"};
    int watch = watch_opens("/proc/version"), found = 0;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (access(paths[i], R_OK) != 0)
            continue;
        assert_int_equal(foreign_file_open(paths[i], NULL, NULL), -ENOEXEC);
        found++;
    }
    assert_true(found >= 2);
    assert_false(was_opened(watch));
    int fd = foreign_file_open("/proc/self/exe", NULL, NULL); /* a link to another file system */
    assert_true(fd >= 0);
    close(fd);
}

static void neither_fifo_nor_directory_is_opened(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(mkdir("directory", 0700), 0);
    is_refused_unopened("fifo", "fifo");
    is_refused_unopened("directory", "directory");
    is_refused_unopened("directory", "directory/");
}

static void entries_of_a_directory_obey_the_same_rules(void **state)
{
    (void)state;
    struct stat status;
    int here = open(".", O_PATH | O_DIRECTORY), watch = watch_opens("fifo");
    assert_int_equal(foreign_file_open_at(here, "fifo", &status), -ENOEXEC);
    assert_false(was_opened(watch));
    assert_int_equal(foreign_file_open_at(here, "link", &status), -ELOOP);
    assert_int_equal(foreign_file_open_at(here, "missing", &status), -ENOENT);
    int fd = foreign_file_open_at(here, "file", &status);
    assert_true(fd >= 0 && S_ISREG(status.st_mode));
    close(fd);
    close(here);
}

static void a_socket_is_refused(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(foreign_file_open("socket", NULL, NULL), -ENOEXEC);
    close(fd);
}

/* Between the two steps the path may be given to another object. */
static void the_object_that_was_found_is_opened(void **state)
{
    (void)state;
    struct stat found, opened;
    make_file("first", "first", 0644);
    make_file("second", "second", 0644);
    int place = foreign_file_find(0, "first", 0, NULL);
    assert_true(place >= 0);
    assert_int_equal(fstat(place, &found), 0);
    assert_int_equal(rename("second", "first"), 0);
    int fd = foreign_file_reopen(place, NULL, &opened);
    assert_true(fd >= 0);
    assert_true(opened.st_ino == found.st_ino && opened.st_size == 5);
    assert_int_equal(fcntl(place, F_GETFD), -1);
    close(fd);
}

static void need_root(void)
{
    if (geteuid() != 0)
        skip();
}

static void files_that_the_user_cannot_read_are_not_opened(void **state)
{
    (void)state;
    need_root();
    make_file("secret", "secret", 0600);
    assert_int_equal(mkdir("closed", 0700), 0);
    make_file("closed/file", "text", 0644);
    make_file("of_group_0", "text", 0640);
    int watch = watch_opens("secret");
    assert_int_equal(foreign_file_open("secret", &other, NULL), -EACCES);
    assert_false(was_opened(watch));
    assert_int_equal(foreign_file_open("closed/file", &other, NULL), -EACCES);
    assert_int_equal(foreign_file_open("of_group_0", &other, NULL), -EACCES);
    int fd = foreign_file_open("file", &other, NULL);
    assert_true(fd >= 0);
    close(fd);
}

static void a_link_of_the_kernel_leads_past_directories_to_what_the_user_can_read(void **state)
{
    (void)state;
    need_root();
    char link[64];
    int kept = open("closed/file", O_RDONLY);
    assert_true(kept >= 0);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", kept);
    int fd = foreign_file_reopen(foreign_file_find(0, link, 0, NULL), &other, NULL);
    assert_true(fd >= 0);
    close(fd);
    close(kept);
}

static void a_refused_path_stays_closed(void **state)
{
    (void)state;
    make_file("refused", "text", 0644);
    int fd = foreign_file_open("refused", NULL, NULL);
    assert_true(fd >= 0);
    close(fd);
    foreign_file_refuse("refused", -EACCES);
    foreign_file_refuse("refused", -ENOENT);
    assert_int_equal(foreign_file_open("refused", NULL, NULL), -EACCES);
    fd = foreign_file_open("file", NULL, NULL);
    assert_true(fd >= 0);
    close(fd);
}

static void errors_have_sentences(void **state)
{
    (void)state;
    assert_string_equal(foreign_file_error(-ENOEXEC), "not a regular file");
    assert_string_equal(foreign_file_error(-ENOSYS), "/proc is not mounted");
    assert_string_equal(foreign_file_error(-EACCES), strerror(EACCES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_regular_file_is_opened_for_reading),
        cmocka_unit_test(links_are_followed_unless_refused),
        cmocka_unit_test(what_is_not_there_is_reported),
        cmocka_unit_test(a_device_is_not_opened),
        cmocka_unit_test(files_of_the_kernel_are_not_opened),
        cmocka_unit_test(neither_fifo_nor_directory_is_opened),
        cmocka_unit_test(entries_of_a_directory_obey_the_same_rules),
        cmocka_unit_test(a_socket_is_refused),
        cmocka_unit_test(the_object_that_was_found_is_opened),
        cmocka_unit_test(files_that_the_user_cannot_read_are_not_opened),
        cmocka_unit_test(a_link_of_the_kernel_leads_past_directories_to_what_the_user_can_read),
        cmocka_unit_test(a_refused_path_stays_closed),
        cmocka_unit_test(errors_have_sentences),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
