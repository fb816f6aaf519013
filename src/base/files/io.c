/* SPDX-License-Identifier: MIT */
#include "base/files/io.h"

#include "base/files/kept_roots.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 16 };

void io_take_closed_standard_places(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/", O_PATH | O_CLOEXEC); /* the kernel takes the lowest free descriptor */
}

int io_write(int fd, const void *bytes, size_t size)
{
    const char *p = bytes;
    while (size > 0) {
        ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

int io_pwrite(int fd, const void *bytes, size_t size, uint64_t offset)
{
    const char *p = bytes;
    while (size > 0) {
        ssize_t n = pwrite(fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

int io_pread(int fd, void *bytes, size_t size, uint64_t offset)
{
    char *p = bytes;
    while (size > 0) {
        ssize_t n = pread(fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -ENODATA;
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

int io_read_all(int fd, struct buffer *out, size_t limit)
{
    for (;;) {
        size_t left = limit - out->size;
        size_t room_bytes = left < CHUNK_BYTES ? left + 1 : CHUNK_BYTES;
        uint8_t *room = buffer_room(out, room_bytes);
        ssize_t n = room ? read(fd, room, room_bytes) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return out->failed ? -ENOMEM : 0;
        if ((size_t)n > left)
            return -EFBIG;
        out->size += (size_t)n;
    }
}

int io_read_file(const char *path, struct buffer *out, size_t limit)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int err = io_read_all(fd, out, limit);
    close(fd);
    return err;
}

/* openat2(2): RESOLVE_IN_ROOT treats the directory as the root of absolute paths and of "..". */
static int open_in_directory(int directory, const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)flags,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
    return fd < 0 ? -errno : fd;
}

uint64_t io_stored_bytes(const struct stat *status)
{
    enum { BLOCK_BYTES = 512 }; /* inode(7), st_blocks */
    const uint64_t size = (uint64_t)status->st_size;
    uint64_t disk_bytes;
    bool is_larger = __builtin_mul_overflow((uint64_t)status->st_blocks, BLOCK_BYTES, &disk_bytes);
    return is_larger || size < disk_bytes ? size : disk_bytes;
}

int io_open_in_root_of(pid_t pid, const char *path, int flags)
{
    char root[64];
    flags |= O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY);
    if (pid == 0) {
        int fd = open(path, flags);
        return fd < 0 ? -errno : fd;
    }
    snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
    int kept = kept_roots_find(pid);
    int directory = kept >= 0 ? kept : open(root, O_PATH | O_CLOEXEC | O_DIRECTORY);
    if (directory < 0)
        return -errno;
    int fd = open_in_directory(directory, path, flags);
    if (kept < 0)
        close(directory);
    return fd;
}
