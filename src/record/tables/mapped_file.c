/* SPDX-License-Identifier: MIT */
#include "record/tables/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static int open_if_same(const char *path, uint64_t inode, struct stat *status)
{
    /* O_NONBLOCK: a FIFO of that name must not hang us. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -ENOENT;
    if (fstat(fd, status) == 0 && S_ISREG(status->st_mode) && status->st_ino == inode)
        return fd;
    close(fd);
    return -ENOENT;
}

int mapped_file_open(const struct mapped_file *file, struct stat *status)
{
    int fd = open_if_same(file->path, file->inode, status);
    char other[4352];
    snprintf(other, sizeof(other), "/proc/%d/root%s", (int)file->pid, file->path);
    if (fd < 0)
        fd = open_if_same(other, file->inode, status);
    snprintf(other, sizeof(other), "/proc/%d/exe", (int)file->pid);
    if (fd < 0)
        fd = open_if_same(other, file->inode, status);
    snprintf(other, sizeof(other), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)file->pid,
             file->start_avma, file->end_avma);
    return fd < 0 ? open_if_same(other, file->inode, status) : fd;
}
