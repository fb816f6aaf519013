/* SPDX-License-Identifier: MIT */
#include "record/tables/files/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

enum { MAPPED_BYTES = 4096 };

static char directory[] = "/tmp/mapped-XXXXXX";
static const struct rights own = {0};
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

static char path[64];

/* A new file at the path, mapped by this process. */
static struct mapped_file map_file(mode_t mode)
{
    struct stat status;
    snprintf(path, sizeof(path), "%s/file", directory);
    unlink(path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0 && ftruncate(fd, MAPPED_BYTES) == 0);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(fstat(fd, &status), 0);
    void *mapped = mmap(NULL, MAPPED_BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(mapped != MAP_FAILED);
    close(fd);
    return (struct mapped_file){.pid = getpid(),
                                .path = path,
                                .device = status.st_dev,
                                .inode = status.st_ino,
                                .start_avma = (uintptr_t)mapped,
                                .end_avma = (uintptr_t)mapped + MAPPED_BYTES,
                                .rights = &own};
}

static void unmap(const struct mapped_file *file)
{
    munmap((void *)(uintptr_t)file->start_avma, MAPPED_BYTES);
}

static void opens_it(const struct mapped_file *file)
{
    struct stat status;
    int fd = mapped_file_open(file, &status);
    assert_true(fd >= 0);
    assert_true(status.st_ino == file->inode);
    close(fd);
}

static void does_not_open_it(const struct mapped_file *file)
{
    struct stat status;
    assert_true(mapped_file_open(file, &status) < 0);
}

static void a_file_at_its_path_is_opened(void **state)
{
    (void)state;
    struct mapped_file file = map_file(0644);
    opens_it(&file);
    file.pid = 0;
    opens_it(&file);
    unmap(&file);
}

static void another_file_at_the_path_is_not_opened(void **state)
{
    (void)state;
    struct mapped_file file = map_file(0644);
    file.pid = 0;
    file.inode++;
    does_not_open_it(&file);
    file.inode--;
    file.device = makedev(254, 12345);
    does_not_open_it(&file);
    unmap(&file);
}

/* As root, the kernel has a link to what is mapped. */
static void a_file_whose_path_leads_elsewhere_is_opened_by_its_mapping(void **state)
{
    (void)state;
    struct mapped_file file = map_file(0644);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    if (geteuid() == 0)
        opens_it(&file);
    else
        does_not_open_it(&file);
    file.pid = 0;
    does_not_open_it(&file);
    unmap(&file);
}

static void a_mapped_device_is_not_opened(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(stat("/dev/zero", &status), 0);
    const struct mapped_file file = {
        .path = "/dev/zero", .device = status.st_dev, .inode = status.st_ino, .rights = &own};
    does_not_open_it(&file);
}

static void a_file_that_the_process_cannot_read_is_not_opened(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    struct mapped_file file = map_file(0711);
    file.rights = &other;
    does_not_open_it(&file);
    unmap(&file);
    file = map_file(0644);
    file.rights = &other;
    opens_it(&file);
    assert_int_equal(chmod(directory, 0700), 0);
    opens_it(&file); /* the process has it mapped: by the link of the kernel */
    file.pid = 0;
    does_not_open_it(&file);
    assert_int_equal(chmod(directory, 0755), 0);
    unmap(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_at_its_path_is_opened),
        cmocka_unit_test(another_file_at_the_path_is_not_opened),
        cmocka_unit_test(a_file_whose_path_leads_elsewhere_is_opened_by_its_mapping),
        cmocka_unit_test(a_mapped_device_is_not_opened),
        cmocka_unit_test(a_file_that_the_process_cannot_read_is_not_opened),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
