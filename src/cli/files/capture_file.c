/* SPDX-License-Identifier: MIT */
#include "cli/files/capture_file.h"

#include "base/files/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_write(const struct capture_file *capture, int err, struct error *error)
{
    return error_set(error, err, "cannot write %s: %s", capture->name, strerror(-err));
}

static int is_busy(const struct capture_file *capture, struct error *error)
{
    return error_set(error, -EBUSY, "another rec is writing %s", capture->name);
}

static int is_no_file(const struct capture_file *capture, struct error *error)
{
    return error_set(error, -EINVAL, "cannot write %s: not a regular file", capture->name);
}

/* Whether the name still leads to the file of fd. */
static bool has_name(const struct capture_file *capture, int fd)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && output_path_stat(&capture->path, &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

static int set_aside(struct capture_file *capture, struct error *error)
{
    int directory = capture->path.directory;
    snprintf(capture->previous, sizeof(capture->previous), "%s.old", capture->path.name);
    if (renameat(directory, capture->path.name, directory, capture->previous) == 0)
        return 0;
    int err = -errno;
    capture->previous[0] = '\0';
    return cannot_write(capture, err, error);
}

/*
 * Renames an earlier capture, unless another process is writing to the file. The lock of the file
 * with this name is held during the rename: of two concurrent recs, only the first can rename the
 * earlier capture, and neither can rename the other's new capture.
 */
static int move_previous(struct capture_file *capture, int fd, struct error *error)
{
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return is_busy(capture, error);
    if (!has_name(capture, fd))
        return is_busy(capture, error);
    return set_aside(capture, error);
}

/* A link is renamed, not followed, and the target is not opened. Links to devices, and to open
 * files of a process (/dev/stdout), are refused. */
static int move_link(struct capture_file *capture, int link, struct error *error)
{
    static const char procfs[] = "/proc/";
    char target[sizeof(procfs) - 1];
    struct stat status;
    ssize_t length = readlinkat(link, "", target, sizeof(target));
    if (length < 0)
        return cannot_write(capture, -errno, error);
    if ((size_t)length == sizeof(target) && memcmp(target, procfs, sizeof(target)) == 0)
        return is_no_file(capture, error);
    if (fstatat(capture->path.directory, capture->path.name, &status, 0) == 0 &&
        !S_ISREG(status.st_mode))
        return is_no_file(capture, error);
    return set_aside(capture, error);
}

static int move_file(struct capture_file *capture, int found, struct error *error)
{
    int fd = output_path_reopen(found, O_RDONLY);
    if (fd < 0)
        return cannot_write(capture, fd, error);
    int err = move_previous(capture, fd, error);
    close(fd);
    return err;
}

static int keep_previous(struct capture_file *capture, struct error *error)
{
    struct stat status;
    int err, found = output_path_look(&capture->path, &status);
    if (found < 0)
        return found == -ENOENT ? 0 : cannot_write(capture, found, error);
    if (S_ISREG(status.st_mode))
        err = move_file(capture, found, error);
    else if (S_ISLNK(status.st_mode))
        err = move_link(capture, found, error);
    else
        err = is_no_file(capture, error);
    close(found);
    return err;
}

static void set_descriptor(struct capture_file *capture, int fd)
{
    capture->fd = fd;
    snprintf(capture->opened, sizeof(capture->opened), "/proc/%d/fd/%d", (int)getpid(), fd);
}

/* Locks the file before the file gets a name. */
static int create_locked(struct capture_file *capture, struct error *error)
{
    struct new_file file;
    int err = new_file_create(&file, capture->path.directory, O_RDWR);
    if (err)
        return cannot_write(capture, err, error);
    (void)flock(file.fd, LOCK_EX | LOCK_NB); /* not every file system has locks */
    err = new_file_link(&file, capture->path.name);
    if (err == 0) {
        set_descriptor(capture, file.fd);
        return 0;
    }
    new_file_unname(&file);
    close(file.fd);
    return err == -EEXIST ? is_busy(capture, error) : cannot_write(capture, err, error);
}

static int open_path(struct capture_file *capture, const char *path, struct error *error)
{
    *capture = (struct capture_file){.fd = -1, .path.directory = -1};
    int err = output_path_open(&capture->path, path, error);
    if (err == 0)
        snprintf(capture->name, sizeof(capture->name), "%s", path);
    return err;
}

int capture_file_claim(struct capture_file *capture, const char *path,
                       const struct sudo_owner *owner, struct error *error)
{
    int err = open_path(capture, path, error);
    if (err)
        return err;
    err = keep_previous(capture, error);
    if (err == 0)
        err = create_locked(capture, error);
    if (err)
        capture_file_abandon(capture);
    else
        sudo_owner_give(owner, capture->fd);
    return err;
}

int capture_file_claim_unnamed(struct capture_file *capture, const char *beside,
                               struct error *error)
{
    struct new_file file;
    int err = open_path(capture, beside, error);
    if (err)
        return err;
    capture->is_unnamed = true;
    err = new_file_create(&file, capture->path.directory, O_RDWR);
    if (err) {
        cannot_write(capture, err, error);
        capture_file_release(capture);
        return err;
    }
    new_file_unname(&file);
    set_descriptor(capture, file.fd);
    snprintf(capture->name, sizeof(capture->name), "a temporary file beside %s", beside);
    return 0;
}

int capture_file_check_name(const struct capture_file *capture, struct error *error)
{
    if (capture->is_unnamed || has_name(capture, capture->fd))
        return 0;
    return error_set(error, -ENOENT,
                     "%s was removed or replaced by another process during the recording: record "
                     "again, to another directory",
                     capture->name);
}

void capture_file_enter_child(struct capture_file *capture)
{
    set_descriptor(capture, capture->fd);
}

void capture_file_unlock(struct capture_file *capture)
{
    (void)flock(capture->fd, LOCK_UN);
}

static void bring_back(const struct capture_file *capture)
{
    int directory = capture->path.directory;
    const char *name = capture->path.name;
    if (renameat2(directory, capture->previous, directory, name, RENAME_NOREPLACE) == 0 ||
        errno != EINVAL)
        return;
    struct stat status; /* not every file system has RENAME_NOREPLACE */
    if (output_path_stat(&capture->path, &status) == -ENOENT)
        (void)renameat(directory, capture->previous, directory, name);
}

void capture_file_abandon(struct capture_file *capture)
{
    if (capture->fd >= 0 && !capture->is_unnamed && has_name(capture, capture->fd))
        unlinkat(capture->path.directory, capture->path.name, 0);
    if (capture->previous[0])
        bring_back(capture);
    capture_file_release(capture);
}

void capture_file_release(struct capture_file *capture)
{
    if (capture->fd >= 0)
        close(capture->fd);
    capture->fd = -1;
    output_path_close(&capture->path);
}
