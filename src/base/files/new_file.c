/* SPDX-License-Identifier: MIT */
#include "base/files/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_TRIED = 100 };

static int choose_temporary(struct new_file *file)
{
    uint64_t number;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return -errno;
    snprintf(file->temporary, sizeof(file->temporary), ".rec.%016" PRIx64, number);
    return 0;
}

/* linkat(2) of an unnamed file by its descriptor in /proc: the way without CAP_DAC_READ_SEARCH. */
static int link_as(const struct new_file *file, const char *name)
{
    char descriptor[64];
    snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", file->fd);
    return linkat(AT_FDCWD, descriptor, file->directory, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : -errno;
}

static int create_named(struct new_file *file, int access)
{
    int err = -EEXIST;
    for (int i = 0; i < NAMES_TRIED && err == -EEXIST; i++) {
        err = choose_temporary(file);
        if (err)
            break;
        file->fd = openat(file->directory, file->temporary,
                          O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | access, 0600);
        err = file->fd < 0 ? -errno : 0;
    }
    if (err)
        file->temporary[0] = '\0';
    return err;
}

/* ext4 returns EPERM for a new file in a removed directory. */
static bool is_removed(int directory)
{
    struct stat status;
    return fstatat(directory, ".", &status, 0) == 0 && status.st_nlink == 0;
}

/* O_TMPFILE without support: EOPNOTSUPP or EISDIR (open(2)), or EINVAL. */
int new_file_create(struct new_file *file, int directory, int access)
{
    *file = (struct new_file){.directory = directory};
    file->fd = openat(directory, ".", O_TMPFILE | O_CLOEXEC | access, 0600);
    if (file->fd >= 0)
        return 0;
    int err = -errno;
    if (err == -EOPNOTSUPP || err == -EISDIR || err == -EINVAL)
        return create_named(file, access);
    return is_removed(directory) ? -ENOENT : err;
}

static int rename_as(struct new_file *file, const char *name, unsigned flags)
{
    if (renameat2(file->directory, file->temporary, file->directory, name, flags) != 0)
        return -errno;
    file->temporary[0] = '\0';
    return 0;
}

int new_file_link(struct new_file *file, const char *name)
{
    int err = link_as(file, name);
    if (err == -EPERM && file->temporary[0]) { /* a file system without hard links */
        err = rename_as(file, name, RENAME_NOREPLACE);
        return err == -EINVAL ? rename_as(file, name, 0) : err;
    }
    if (err == 0)
        new_file_unname(file);
    return err;
}

/* linkat() does not replace a file: link under a temporary name, then rename. */
static int link_temporary(struct new_file *file)
{
    int err = -EEXIST;
    for (int i = 0; i < NAMES_TRIED && err == -EEXIST; i++) {
        err = choose_temporary(file);
        if (err == 0)
            err = link_as(file, file->temporary);
    }
    if (err)
        file->temporary[0] = '\0';
    return err;
}

int new_file_replace(struct new_file *file, const char *name)
{
    int err = file->temporary[0] ? -EEXIST : link_as(file, name);
    if (err != -EEXIST)
        return err;
    if (file->temporary[0] == '\0' && (err = link_temporary(file)) != 0)
        return err;
    return rename_as(file, name, 0);
}

void new_file_unname(struct new_file *file)
{
    if (file->temporary[0])
        unlinkat(file->directory, file->temporary, 0);
    file->temporary[0] = '\0';
}
