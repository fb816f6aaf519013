/* SPDX-License-Identifier: MIT */
#include "base/files/out_file.h"

#include "base/files/unmapped_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int failed(const struct out_file *out, int err, struct error *error)
{
    return error_set(error, err, "cannot write %s: %s", out->name, strerror(-err));
}

/* As the kernel's fs.protected_fifos (proc(5)): a FIFO of another user could catch the output. */
static int judge_in_place(const struct out_file *out, const struct stat *status, uid_t reader,
                          struct error *error)
{
    if (status->st_uid == 0 || owner_is_self(status->st_uid) || status->st_uid == reader)
        return 0;
    return error_set(
        error, -EPERM, "cannot write %s: the %s belongs to another user (%u); use another name",
        out->name, S_ISFIFO(status->st_mode) ? "FIFO" : "device", (unsigned)status->st_uid);
}

/* Judges the present file of the name. Returns an O_PATH descriptor of a FIFO or device, to be
 * written in place, or -ENOENT: a new file takes the name. Every other negative errno is a
 * failure, with a message. */
static int judge(struct out_file *out, uid_t reader, struct error *error)
{
    struct stat status;
    int fd = output_path_look(&out->path, &status);
    if (fd < 0)
        return fd == -ENOENT ? fd : failed(out, fd, error);
    int err = -ENOENT;
    if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))
        err = judge_in_place(out, &status, reader, error);
    else if (S_ISDIR(status.st_mode))
        err = error_set(error, -EISDIR, "cannot write %s: a directory has this name", out->name);
    else if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
        err = error_set(error, -EINVAL, "cannot write %s: not a regular file", out->name);
    if (err == 0)
        return fd;
    close(fd);
    return err;
}

static int open_in_place(struct out_file *out, int found, struct error *error)
{
    out->is_in_place = true;
    out->fd = output_path_reopen(found, O_WRONLY);
    return out->fd < 0 ? failed(out, out->fd, error) : 0;
}

/* Without an open(), which waits for a reader of a FIFO (fifo(7)). */
static int check_in_place(const struct out_file *out, int found, struct error *error)
{
    char descriptor[64];
    snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", found);
    return faccessat(AT_FDCWD, descriptor, W_OK, AT_EACCESS) == 0 ? 0 : failed(out, -errno, error);
}

static int create(struct out_file *out, struct error *error)
{
    int err = new_file_create(&out->file, out->path.directory, O_WRONLY);
    if (err)
        return failed(out, err, error);
    out->fd = out->file.fd;
    return 0;
}

static int open_or_check(struct out_file *out, const char *path, uid_t reader, bool is_check,
                         struct error *error)
{
    *out = (struct out_file){.fd = -1, .name = path};
    int err = output_path_open(&out->path, path, error);
    if (err)
        return err;
    int found = judge(out, reader, error);
    if (found == -ENOENT)
        err = create(out, error);
    else if (found < 0)
        err = found;
    else
        err = is_check ? check_in_place(out, found, error) : open_in_place(out, found, error);
    if (found >= 0)
        close(found);
    if (err)
        out_discard(out);
    return err;
}

int out_open(struct out_file *out, const char *path, uid_t reader, struct error *error)
{
    return open_or_check(out, path, reader, false, error);
}

int out_check(const char *path, uid_t reader, struct error *error)
{
    struct out_file out;
    int err = open_or_check(&out, path, reader, true, error);
    out_discard(&out);
    return err;
}

int out_commit(struct out_file *out, struct error *error)
{
    int err = out->is_in_place ? 0 : new_file_replace(&out->file, out->path.name);
    if (err)
        failed(out, err, error);
    out_discard(out);
    return err;
}

void out_discard(struct out_file *out)
{
    new_file_unname(&out->file);
    if (out->fd >= 0)
        close(out->fd);
    out->fd = -1;
    output_path_close(&out->path);
}
