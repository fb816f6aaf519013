/* SPDX-License-Identifier: MIT */
#include "base/files/foreign_file.h"

#include "base/containers/array.h"
#include "base/containers/intern.h"
#include "base/files/io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

static struct {
    struct intern *paths; /* NULL: none */
    int *errs;            /* by path */
    size_t count, capacity;
    bool is_incomplete; /* out of memory: any path may be missing */
} refused;

/* O_NONBLOCK: a lease on the file must not delay the caller (fcntl(2), F_SETLEASE). */
static int open_by_descriptor(int place, const struct rights *rights)
{
    char link[32];
    struct rights_loan loan;
    int err = rights_borrow(&loan, rights);
    if (err)
        return err;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
    int fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    err = errno == ENOENT ? -ENOSYS : -errno;
    rights_return(&loan);
    return fd < 0 ? err : fd;
}

static int judge(const struct stat *found)
{
    if (S_ISREG(found->st_mode))
        return 0;
    return S_ISLNK(found->st_mode) ? -ELOOP : -ENOEXEC;
}

/* The kernel's own files are regular by their mode. Reading has effects as with devices: /proc/kmsg
 * and trace_pipe lose what was read. Links in /proc lead to files of other file systems. */
static int judge_file_system(int place)
{
    static const uint32_t of_kernel[] = {PROC_SUPER_MAGIC,    SYSFS_MAGIC,      DEBUGFS_MAGIC,
                                         TRACEFS_MAGIC,       SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,
                                         CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,     PSTOREFS_MAGIC,
                                         EFIVARFS_MAGIC,      SELINUX_MAGIC};
    struct statfs found;
    if (fstatfs(place, &found) != 0)
        return -errno;
    for (size_t i = 0; i < sizeof(of_kernel) / sizeof(of_kernel[0]); i++)
        if ((uint32_t)found.f_type == of_kernel[i])
            return -ENOEXEC;
    return 0;
}

/* The descriptor in /proc leads to the object, but /proc may be a directory of another file system:
 * hence the second comparison. */
static int open_judged(int place, const struct rights *rights, struct stat *status)
{
    struct stat found;
    int err = fstat(place, &found) == 0 ? judge(&found) : -errno;
    if (!err)
        err = judge_file_system(place);
    int fd = err ? err : open_by_descriptor(place, rights);
    if (fd < 0)
        return fd;
    if (fstat(fd, status) == 0 && judge(status) == 0 && status->st_dev == found.st_dev &&
        status->st_ino == found.st_ino)
        return fd;
    close(fd);
    return -ENOSYS;
}

int foreign_file_reopen(int place, const struct rights *rights, struct stat *status)
{
    struct stat ignored;
    if (place < 0)
        return place;
    int fd = open_judged(place, rights, status ? status : &ignored);
    close(place);
    return fd;
}

int foreign_file_find(pid_t pid, const char *path, int flags, const struct rights *rights)
{
    struct rights_loan loan;
    int err = rights_borrow(&loan, rights);
    if (err)
        return err;
    int place = io_open_in_root_of(pid, path, O_PATH | flags);
    rights_return(&loan);
    return place;
}

void foreign_file_refuse(const char *path, int err)
{
    if (!refused.paths)
        refused.paths = intern_new();
    uint32_t id = refused.paths ? intern_text(refused.paths, path) : INTERN_NONE;
    int *place =
        id == refused.count ? ARRAY_PUSH(refused.errs, refused.count, refused.capacity) : NULL;
    if (place)
        *place = err;
    refused.is_incomplete |= id >= refused.count;
}

/* 0: not refused. */
static int refusal(const char *path)
{
    if (refused.is_incomplete)
        return -ENOMEM;
    uint32_t id = refused.paths ? intern_find(refused.paths, path, strlen(path)) : INTERN_NONE;
    return id == INTERN_NONE ? 0 : refused.errs[id];
}

int foreign_file_open(const char *path, const struct rights *rights, struct stat *status)
{
    int err = refusal(path);
    if (err)
        return err;
    return foreign_file_reopen(foreign_file_find(0, path, 0, rights), rights, status);
}

int foreign_file_open_at(int directory, const char *name, struct stat *status)
{
    int place = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return foreign_file_reopen(place < 0 ? -errno : place, NULL, status);
}

const char *foreign_file_error(int err)
{
    if (err == -ENOEXEC)
        return "not a regular file";
    return err == -ENOSYS ? "/proc is not mounted" : strerror(-err);
}
