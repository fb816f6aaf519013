/* SPDX-License-Identifier: MIT */
#include "cli/files/input.h"

#include "base/files/io.h"
#include "base/files/new_file.h"
#include "cli/commands/commands.h"
#include "perfdata/header.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SPOOL_BYTES = 1 << 16 };

#define COPY_BYTES_MAX (UINT64_C(4) << 30)

static int open_spool_in(const char *path)
{
    struct new_file file;
    int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    int err = new_file_create(&file, directory, O_RDWR);
    if (err == 0)
        new_file_unname(&file);
    close(directory);
    return err ? err : file.fd;
}

/* /var/tmp first: /tmp may be a tmpfs, too small for a capture. */
static int open_spool(struct error *error)
{
    const char *named = getenv("TMPDIR");
    const char *const directories[] = {named && named[0] ? named : "/var/tmp", "/var/tmp", "/tmp"};
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof(directories) / sizeof(directories[0]); i++)
        fd = open_spool_in(directories[i]);
    if (fd < 0)
        return error_set(error, fd, "cannot store the input in %s: %s", directories[0],
                         strerror(-fd));
    return fd;
}

/* 0 at the end. */
static ssize_t read_some(int from, char *bytes, size_t room, const char *name, struct error *error)
{
    for (;;) {
        ssize_t got = read(from, bytes, room);
        if (got >= 0)
            return got;
        if (errno != EINTR)
            return error_set(error, -errno, "cannot read %s: %s", name, strerror(errno));
    }
}

static int keep(int to, const char *bytes, size_t size, const char *name, struct error *error)
{
    int err = io_write(to, bytes, size);
    return err ? error_set(error, err, "cannot store the input from %s: %s", name, strerror(-err))
               : 0;
}

/* Checks the magic first: a device or a pipe may have no end. */
static int copy_head(int from, int to, const char *name, struct error *error)
{
    char bytes[FILE_MAGIC_BYTES];
    size_t size = 0;
    ssize_t got = 0;
    do {
        got = read_some(from, bytes + size, sizeof(bytes) - size, name, error);
        size += got > 0 ? (size_t)got : 0;
    } while (got > 0 && size < sizeof(bytes));
    int err = got < 0 ? (int)got : file_magic_check(bytes, size, name, error);
    return err ? err : keep(to, bytes, size, name, error);
}

/* A pipe may have no end, and other programs need the disk. tmpfs without a size has 0 blocks. */
static uint64_t most_bytes(int to)
{
    struct statvfs system;
    if (fstatvfs(to, &system) != 0 || system.f_blocks == 0)
        return COPY_BYTES_MAX;
    uint64_t half = (uint64_t)system.f_bavail * system.f_frsize / 2;
    return half < COPY_BYTES_MAX ? half : COPY_BYTES_MAX;
}

static int is_too_large(const char *name, uint64_t most, struct error *error)
{
    return error_set(error, -EFBIG,
                     "%s: more than %" PRIu64 " MiB, the limit for a pipe (4 GiB, and half of the "
                     "free space of the temporary directory); write the recording to a file, or "
                     "set TMPDIR",
                     name, most >> 20);
}

static int copy_all(int from, int to, const char *name, struct error *error)
{
    static char bytes[SPOOL_BYTES];
    const uint64_t most = most_bytes(to);
    uint64_t left = most;
    int err = copy_head(from, to, name, error);
    while (!err) {
        ssize_t got = read_some(from, bytes, sizeof(bytes), name, error);
        if (got <= 0)
            return (int)got;
        if ((uint64_t)got > left)
            return is_too_large(name, most, error);
        left -= (uint64_t)got;
        err = keep(to, bytes, (size_t)got, name, error);
    }
    return err;
}

static void ignore_once(int signal_number)
{
    (void)signal_number;
}

/* Ctrl-C ends a recorder in the same pipeline; read the rest of the recorder's output. A second
 * Ctrl-C ends rec. */
static int copy_through_interrupt(int from, int to, const char *name, struct error *error)
{
    struct sigaction once = {.sa_handler = ignore_once, .sa_flags = (int)SA_RESETHAND}, before;
    sigaction(SIGINT, &once, &before);
    int err = copy_all(from, to, name, error);
    sigaction(SIGINT, &before, NULL);
    return err;
}

/* The copy becomes standard input: /dev/stdin can be opened several times. */
static int spool(const char **path, int from, struct error *error)
{
    if (isatty(from))
        return error_set(
            error, -EINVAL,
            "%s is a terminal; pipe a recording into rec: `perf record -o - app | rec convert - -o "
            "app.folded`",
            *path);
    int to = open_spool(error);
    if (to < 0)
        return to;
    int err = copy_through_interrupt(from, to, *path, error);
    if (!err && dup2(to, STDIN_FILENO) < 0)
        err = error_set(error, -errno, "cannot store the input: %s", strerror(errno));
    close(to);
    if (!err)
        *path = "/dev/stdin";
    return err;
}

/* Opening a device has effects, and in a directory of another user even the default name may lead
 * to a device: only a pipe is opened, by the descriptor of the check. */
static int open_pipe(const char *path, int place, struct error *error)
{
    char link[32];
    struct stat status;
    if (fstat(place, &status) == 0 && !S_ISFIFO(status.st_mode))
        return error_set(error, -EINVAL, "%s is neither a file nor a pipe", path);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
    int fd = open(link, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? error_set(error, -errno, "cannot open %s: %s", path, strerror(errno)) : fd;
}

static int spool_from(const char **path, struct error *error)
{
    bool is_stdin = strcmp(*path, "/dev/stdin") == 0;
    int fd = is_stdin ? dup(STDIN_FILENO) : open(*path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return error_set(error, -errno, "cannot open %s: %s", *path, strerror(errno));
    int from = is_stdin ? fd : open_pipe(*path, fd, error);
    int err = from < 0 ? from : spool(path, from, error);
    if (from >= 0 && from != fd)
        close(from);
    close(fd);
    return err;
}

int input_resolve(const char **path, struct error *error)
{
    struct stat status;
    if (strcmp(*path, "-") == 0)
        *path = "/dev/stdin";
    bool is_there = stat(*path, &status) == 0;
    if (!is_there && errno == ENOENT && strcmp(*path, CAPTURE_DEFAULT) == 0)
        return error_set(error, -ENOENT,
                         "no %s in this directory: record with `rec -- COMMAND`, or name a file",
                         CAPTURE_DEFAULT);
    if (!is_there || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        return 0;
    return spool_from(path, error);
}
