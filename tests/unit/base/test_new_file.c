/* SPDX-License-Identifier: MIT */
/*
 * New files on file systems without unnamed files, as NFS, and without hard links, as FAT: a seccomp
 * filter refuses both. Each test has an empty directory of its own as its working directory.
 */
#include "base/files/new_file.h"

#include "base/files/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "in_directory.h"

static size_t files_here(void)
{
    size_t count = 0;
    DIR *listing = opendir(".");
    for (struct dirent *entry; (entry = readdir(listing));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

static void filter(const struct sock_filter *code, size_t count)
{
    struct sock_fprog program = {.len = (unsigned short)count,
                                 .filter = (struct sock_filter *)code};
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* The bit of O_TMPFILE that O_DIRECTORY does not have. */
static void refuse_unnamed(void)
{
    static const struct sock_filter code[] = {
        LOAD(nr),         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        LOAD(args[2]),    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        FAIL(EOPNOTSUPP), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    filter(code, sizeof(code) / sizeof(code[0]));
}

static void refuse_links(void)
{
    static const struct sock_filter code[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_linkat, 0, 1),
        FAIL(EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    filter(code, sizeof(code) / sizeof(code[0]));
}

static struct new_file create(const char *text, size_t names)
{
    struct new_file file;
    assert_int_equal(new_file_create(&file, AT_FDCWD, O_RDWR), 0);
    assert_int_equal(io_write(file.fd, text, strlen(text)), 0);
    assert_int_equal(files_here(), names);
    return file;
}

/* names: how many entries the directory has while the file has no final name. */
static void check_all(size_t names)
{
    struct stat status;
    mode_t before = umask(0);
    struct new_file file = create("new", names);
    umask(before);
    assert_int_equal(fstat(file.fd, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(new_file_link(&file, "file"), 0);
    close(file.fd);
    assert_content("file", "new");
    assert_int_equal(files_here(), 1);

    file = create("other", names + 1);
    assert_int_equal(new_file_link(&file, "file"), -EEXIST);
    assert_content("file", "new");
    new_file_unname(&file);
    assert_int_equal(files_here(), 1);
    close(file.fd);

    file = create("newer", names + 1);
    assert_int_equal(new_file_replace(&file, "file"), 0);
    close(file.fd);
    assert_content("file", "newer");
    assert_int_equal(files_here(), 1);
}

static void files_have_no_name_before_their_final_one(void **state)
{
    (void)state;
    check_all(0);
}

static void a_removed_directory_has_no_new_files(void **state)
{
    (void)state;
    struct new_file file;
    assert_int_equal(mkdir("removed", 0700), 0);
    int removed = open("removed", O_PATH | O_DIRECTORY);
    assert_int_equal(rmdir("removed"), 0);
    assert_int_equal(new_file_create(&file, removed, O_WRONLY), -ENOENT);
    close(removed);
}

static void without_unnamed_files_there_is_one_temporary_name(void **state)
{
    (void)state;
    refuse_unnamed();
    check_all(1);
}

static void without_hard_links_the_temporary_name_is_renamed(void **state)
{
    (void)state;
    refuse_links();
    check_all(1);
}

static void a_temporary_name_that_another_user_removed_is_no_success(void **state)
{
    (void)state;
    struct new_file file = create("new", 1);
    write_file("file", "stays");
    assert_int_equal(unlink(file.temporary), 0);
    assert_int_equal(new_file_replace(&file, "file"), -ENOENT);
    new_file_unname(&file);
    close(file.fd);
    assert_content("file", "stays");
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

/* In this order: a filter stays for all later tests. */
int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(files_have_no_name_before_their_final_one),
        IN_DIRECTORY(a_removed_directory_has_no_new_files),
        IN_DIRECTORY(without_unnamed_files_there_is_one_temporary_name),
        IN_DIRECTORY(without_hard_links_the_temporary_name_is_renamed),
        IN_DIRECTORY(a_temporary_name_that_another_user_removed_is_no_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
