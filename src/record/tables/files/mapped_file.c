/* SPDX-License-Identifier: MIT */
/*
 * The places of a mapped file, in the order of the attempts. Each must have device and inode of the
 * mapping, so a successor at the same path is never taken:
 *
 *     the path, from rec's root            with the rights of the process
 *     the path, from the process's root    containers, chroot
 *     /proc/PID/exe                        a deleted executable
 *     /proc/PID/map_files/START-END        a deleted library; needs CAP_SYS_ADMIN, since Linux 5.9
 *                                          CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE (proc(5))
 */
#include "record/tables/files/mapped_file.h"

#include "base/files/foreign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* On btrfs and overlayfs, stat() returns the device of a subvolume or layer, mappings the device of
 * the superblock. All of these have major number 0, like every file system without a block device;
 * there, the inode has to suffice. */
static bool is_same_device(dev_t found, dev_t mapped)
{
    return found == mapped || (major(found) == 0 && major(mapped) == 0);
}

static int open_if_mapped(const struct mapped_file *file, int place, struct stat *status)
{
    if (place < 0)
        return place;
    if (fstat(place, status) == 0 && is_same_device(status->st_dev, file->device) &&
        status->st_ino == file->inode)
        return foreign_file_reopen(place, file->rights, status);
    close(place);
    return -ENOENT;
}

/* The process chose the path: followed with the rights of the process. */
static int open_by_path(const struct mapped_file *file, pid_t pid, struct stat *status)
{
    return open_if_mapped(file, foreign_file_find(pid, file->path, 0, file->rights), status);
}

/* A /proc link leads to the object itself, past the permissions of directories. */
static int open_by_link(const struct mapped_file *file, const char *link, struct stat *status)
{
    return open_if_mapped(file, foreign_file_find(0, link, 0, NULL), status);
}

int mapped_file_open(const struct mapped_file *file, struct stat *status)
{
    char link[96];
    int fd = open_by_path(file, 0, status);
    if (fd >= 0 || file->pid == 0)
        return fd;
    fd = open_by_path(file, file->pid, status);
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)file->pid);
    if (fd < 0)
        fd = open_by_link(file, link, status);
    snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)file->pid,
             file->start_avma, file->end_avma);
    return fd < 0 ? open_by_link(file, link, status) : fd;
}
