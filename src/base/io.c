/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 16 };

void io_take_closed_standard_places(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/", O_PATH | O_CLOEXEC); /* the lowest that is free */
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

static int open_in_directory(int directory, const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)flags,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
    return fd < 0 ? -errno : fd;
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
    int directory = open(root, O_PATH | O_CLOEXEC | O_DIRECTORY);
    if (directory < 0)
        return -errno;
    int fd = open_in_directory(directory, path, flags);
    close(directory);
    return fd;
}

static int out_failed(const struct out_file *out, int err, struct error *error)
{
    return error_set(error, err, "cannot write %s: %s", out->path, strerror(-err));
}

static bool is_pipe_or_device(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode));
}

static void open_unnamed(struct out_file *out)
{
    char directory[4096];
    snprintf(directory, sizeof(directory), "%s", out->path);
    char *slash = strrchr(directory, '/');
    if (!slash)
        strcpy(directory, ".");
    else
        slash[slash == directory ? 1 : 0] = '\0';
    out->fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (out->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        snprintf(out->temporary, sizeof(out->temporary), "%s.%d.tmp", out->path, (int)getpid());
        out->fd = open(out->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    }
}

int out_open(struct out_file *out, const char *path, struct error *error)
{
    *out = (struct out_file){.fd = -1, .is_in_place = is_pipe_or_device(path)};
    int length = snprintf(out->path, sizeof(out->path), "%s", path);
    if (length < 0 || (size_t)length >= sizeof(out->path))
        return out_failed(out, -ENAMETOOLONG, error);
    if (out->is_in_place)
        out->fd = open(path, O_WRONLY | O_CLOEXEC);
    else
        open_unnamed(out);
    return out->fd < 0 ? out_failed(out, -errno, error) : 0;
}

int out_check(const char *path, struct error *error)
{
    struct out_file out = {.fd = -1};
    if (is_pipe_or_device(path)) {
        snprintf(out.path, sizeof(out.path), "%s", path);
        return access(path, W_OK) == 0 ? 0 : out_failed(&out, -errno, error);
    }
    int err = out_open(&out, path, error);
    out_discard(&out);
    return err;
}

/* linkat() does not replace an existing file: link under a name of our own, then rename. */
static int link_into_place(struct out_file *out)
{
    char descriptor[64];
    snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", out->fd);
    if (linkat(AT_FDCWD, descriptor, AT_FDCWD, out->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != EEXIST)
        return -errno;
    snprintf(out->temporary, sizeof(out->temporary), "%s.%d.tmp", out->path, (int)getpid());
    if (linkat(AT_FDCWD, descriptor, AT_FDCWD, out->temporary, AT_SYMLINK_FOLLOW) != 0)
        return -errno;
    return rename(out->temporary, out->path) == 0 ? 0 : -errno;
}

static int put_into_place(struct out_file *out)
{
    if (out->temporary[0] == '\0')
        return link_into_place(out);
    return rename(out->temporary, out->path) == 0 ? 0 : -errno;
}

int out_commit(struct out_file *out, struct error *error)
{
    int err = out->is_in_place ? 0 : put_into_place(out);
    if (err == 0)
        out->temporary[0] = '\0';
    out_discard(out);
    return err ? out_failed(out, err, error) : 0;
}

void out_discard(struct out_file *out)
{
    if (out->fd >= 0)
        close(out->fd);
    if (out->temporary[0])
        unlink(out->temporary);
    out->fd = -1;
    out->temporary[0] = '\0';
}
