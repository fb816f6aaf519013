/* SPDX-License-Identifier: MIT */
#include "cli/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_write(const char *path, int err, struct error *error)
{
    return error_set(error, err, "cannot write %s: %s", path, strerror(-err));
}

static int is_busy(const char *path, struct error *error)
{
    return error_set(error, -EBUSY, "another rec is writing %s", path);
}

static int set_aside(struct capture *capture, struct error *error)
{
    int length = snprintf(capture->previous, sizeof(capture->previous), "%s.old", capture->path);
    int err = (size_t)length >= sizeof(capture->previous)     ? -ENAMETOOLONG
              : rename(capture->path, capture->previous) != 0 ? -errno
                                                              : 0;
    if (err == 0)
        return 0;
    capture->previous[0] = '\0';
    return cannot_write(capture->path, err, error);
}

/*
 * Moves an earlier capture out of the way, unless somebody is writing it. Who renames holds the
 * lock of the very file that bears the name: two recs that start at once cannot both move it, nor
 * can one move what the other has just begun.
 */
static int move_previous(struct capture *capture, int fd, struct error *error)
{
    struct stat opened, named;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return is_busy(capture->path, error);
    if (fstat(fd, &opened) != 0 || stat(capture->path, &named) != 0 ||
        opened.st_ino != named.st_ino || opened.st_dev != named.st_dev)
        return is_busy(capture->path, error);
    if (!S_ISREG(opened.st_mode))
        return error_set(error, -EINVAL, "cannot write %s: it is not a regular file",
                         capture->path);
    return set_aside(capture, error);
}

static int keep_previous(struct capture *capture, struct error *error)
{
    int fd = open(capture->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat named;
    if (fd < 0 && errno != ENOENT)
        return cannot_write(capture->path, -errno, error);
    if (fd < 0) /* a link that leads nowhere makes way as one that leads somewhere does */
        return lstat(capture->path, &named) == 0 ? set_aside(capture, error) : 0;
    int err = move_previous(capture, fd, error);
    close(fd);
    return err;
}

/* A new file of no name that lasts, 0600, in the directory of path; its name for now goes to
 * `name`. */
static int create_beside(const char *path, char *name, size_t size, struct error *error)
{
    const char *slash = strrchr(path, '/');
    int length = snprintf(name, size, "%.*s.rec.XXXXXX", slash ? (int)(slash - path) + 1 : 0, path);
    if ((size_t)length >= size)
        return cannot_write(path, -ENAMETOOLONG, error);
    int fd = mkostemp(name, O_CLOEXEC);
    return fd >= 0 ? fd : cannot_write(path, -errno, error);
}

/* The file gets its name when it is locked already. */
static int create_locked(struct capture *capture, struct error *error)
{
    char name[4096];
    int fd = create_beside(capture->path, name, sizeof(name), error);
    if (fd < 0)
        return fd;
    (void)flock(fd, LOCK_EX | LOCK_NB); /* not every file system has locks */
    int err = link(name, capture->path) == 0 ? 0 : -errno;
    if (err == -EPERM) /* nor links */
        err = rename(name, capture->path) == 0 ? 0 : -errno;
    unlink(name);
    if (err == 0) {
        capture->fd = fd;
        return 0;
    }
    close(fd);
    return err == -EEXIST ? is_busy(capture->path, error) : cannot_write(capture->path, err, error);
}

int capture_claim(struct capture *capture, const char *path, const struct owner *owner,
                  struct error *error)
{
    *capture = (struct capture){.fd = -1};
    if (strlen(path) >= sizeof(capture->path))
        return cannot_write(path, -ENAMETOOLONG, error);
    strcpy(capture->path, path);
    strcpy(capture->name, path);
    int err = keep_previous(capture, error);
    if (err)
        return err;
    err = create_locked(capture, error);
    if (err)
        capture_abandon(capture);
    else
        owner_give(owner, capture->fd);
    return err;
}

int capture_claim_unnamed(struct capture *capture, const char *beside, struct error *error)
{
    *capture = (struct capture){.fd = -1, .is_unnamed = true};
    char name[4096];
    int fd = create_beside(beside, name, sizeof(name), error);
    if (fd < 0)
        return fd;
    unlink(name);
    capture->fd = fd;
    snprintf(capture->path, sizeof(capture->path), "/proc/%d/fd/%d", (int)getpid(), fd);
    snprintf(capture->name, sizeof(capture->name), "a temporary file beside %s", beside);
    return 0;
}

void capture_unlock(struct capture *capture)
{
    (void)flock(capture->fd, LOCK_UN);
}

void capture_abandon(struct capture *capture)
{
    if (capture->fd >= 0 && !capture->is_unnamed)
        unlink(capture->path);
    if (capture->previous[0] && access(capture->path, F_OK) != 0)
        (void)rename(capture->previous, capture->path);
    capture_release(capture);
}

void capture_release(struct capture *capture)
{
    if (capture->fd >= 0)
        close(capture->fd);
    capture->fd = -1;
}
