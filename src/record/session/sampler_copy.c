/* SPDX-License-Identifier: MIT */
/*
 * Each step works on descriptors of directories opened before, so no path is resolved twice:
 *
 *     open_base()            PLACE, trusted from the root on          (realpath() first)
 *     open_own_directory()   rec-sampler, then HASH: own, no writer but this user
 *     flock(), write_file()  unfinished ─▶ rename ─▶ librec-sampler.so
 *
 * A reader finds either no file or a complete one. A copy is compared byte for byte before its use:
 * the hash names the copy, and proves nothing.
 */
#include "record/session/sampler_copy.h"

#include "base/containers/buffer.h"
#include "base/containers/hash.h"
#include "base/files/io.h"
#include "base/files/unmapped_owner.h"
#include "record/launch/trust.h"
#include "wire/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SAMPLER_BYTES_MAX (UINT32_C(64) << 20)
#define UNFINISHED_NAME "unfinished"
/* Other users may load the copy, but not list the directory. The sticky bit exempts a file from
 * cleaning (XDG Base Directory Specification). */
#define DIRECTORY_MODE (S_ISVTX | 0711)
#define FILE_MODE (S_ISVTX | 0644)

struct place {
    const char *base; /* NULL: none */
    const char *below;
    bool is_shared; /* /var/tmp: every user may create files there */
};

bool sampler_copy_fits(const char *path)
{
    return !strpbrk(path, " :$") && strlen(path) < SESSION_SAMPLER_BYTES_MAX;
}

const char *sampler_copy_places(void)
{
    return geteuid() == 0 ? "/run, /var/cache or /var/tmp"
                          : "$XDG_RUNTIME_DIR, $HOME/.cache or /var/tmp";
}

/* Creates or opens a directory with write permission for this user only, with any umask at its
 * creation. A descriptor, or a negative errno. */
static int open_own_directory(int above, const char *name)
{
    struct stat status;
    if (mkdirat(above, name, 0700) != 0 && errno != EEXIST)
        return -errno;
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int err = fstat(fd, &status) != 0 ? -errno : 0;
    if (err == 0 && (!owner_is_self(status.st_uid) || status.st_mode & (S_IWGRP | S_IWOTH)))
        err = -EPERM;
    if (err == 0 && (status.st_mode & DIRECTORY_MODE) != DIRECTORY_MODE &&
        fchmod(fd, DIRECTORY_MODE) != 0)
        err = -errno;
    if (err == 0)
        return fd;
    close(fd);
    return err;
}

/* Opens the base, symbolic links resolved; an unshared base must belong to this user. */
static int open_base(const struct place *place, char resolved[PATH_MAX])
{
    struct stat status;
    struct statvfs mount;
    if (!place->base || place->base[0] != '/' || !realpath(place->base, resolved))
        return -ENOENT;
    int err = trust_check(resolved, NULL);
    int fd = err ? -1 : open(resolved, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (err || fd < 0)
        return err ? err : -errno;
    if (fstat(fd, &status) != 0 || fstatvfs(fd, &mount) != 0)
        err = -errno;
    else if (mount.f_flag & ST_NOEXEC || (!place->is_shared && !owner_is_self(status.st_uid)))
        err = -EPERM;
    if (err == 0)
        return fd;
    close(fd);
    return err;
}

static bool is_good(int directory, const struct buffer *content)
{
    struct stat status;
    struct buffer found = {0};
    int fd =
        openat(directory, SESSION_SAMPLER_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                owner_is_self(status.st_uid) && (status.st_mode & 0777) == (FILE_MODE & 0777) &&
                (uint64_t)status.st_size == content->size &&
                io_read_all(fd, &found, content->size) == 0 && found.size == content->size &&
                memcmp(found.bytes, content->bytes, content->size) == 0;
    buffer_free(&found);
    close(fd);
    return good;
}

/* Writes under a temporary name and renames the complete file. A leftover of a killed rec is
 * replaced. */
static int write_file(int directory, const struct buffer *content)
{
    unlinkat(directory, UNFINISHED_NAME, 0);
    int fd = openat(directory, UNFINISHED_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int err = io_write(fd, content->bytes, content->size);
    if (err == 0 && fchmod(fd, FILE_MODE) != 0)
        err = -errno;
    if (close(fd) != 0 && err == 0)
        err = -errno;
    if (err == 0 && renameat(directory, UNFINISHED_NAME, directory, SESSION_SAMPLER_NAME) != 0)
        err = -errno;
    if (err)
        unlinkat(directory, UNFINISHED_NAME, 0);
    return err;
}

/* Concurrent recorders take turns; closing the directory unlocks. */
static int ensure_file(int directory, const struct buffer *content)
{
    if (is_good(directory, content))
        return 0;
    if (flock(directory, LOCK_EX) != 0)
        return -errno;
    return is_good(directory, content) ? 0 : write_file(directory, content);
}

static int ensure_in(int above, const char *name, const struct buffer *content)
{
    int directory = open_own_directory(above, name);
    if (directory < 0)
        return directory;
    int err = ensure_file(directory, content);
    close(directory);
    return err;
}

static int try_place(const struct place *place, const struct buffer *content, char path[4096])
{
    char resolved[PATH_MAX], name[32];
    int own = -1;
    snprintf(name, sizeof(name), "%016llx",
             (unsigned long long)hash_bytes(content->bytes, content->size));
    int base = open_base(place, resolved);
    if (base < 0)
        return base;
    int length =
        snprintf(path, 4096, "%s/%s/%s/" SESSION_SAMPLER_NAME, resolved, place->below, name);
    int err = length >= 4096 || !sampler_copy_fits(path) ? -ENAMETOOLONG : 0;
    if (err == 0) {
        own = open_own_directory(base, place->below);
        err = own < 0 ? own : ensure_in(own, name, content);
    }
    if (own >= 0)
        close(own);
    close(base);
    return err;
}

int sampler_copy_make(char path[4096], const char *installed)
{
    struct buffer content = {0};
    char cache[PATH_MAX] = "", shared[32];
    bool is_root = geteuid() == 0;
    const char *home = getenv("HOME");
    snprintf(shared, sizeof(shared), "rec-sampler-%u", (unsigned)geteuid());
    if (home)
        snprintf(cache, sizeof(cache), "%s/.cache", home);
    const struct place places[] = {
        {is_root ? "/run" : getenv("XDG_RUNTIME_DIR"), "rec-sampler", false},
        {is_root ? "/var/cache" : cache, "rec-sampler", false},
        {"/var/tmp", shared, true}};
    int err = io_read_file(installed, &content, SAMPLER_BYTES_MAX);
    int tried = err ? err : -ENOENT;
    for (size_t i = 0; !err && tried && i < sizeof(places) / sizeof(places[0]); i++)
        tried = try_place(&places[i], &content, path);
    buffer_free(&content);
    return tried;
}
