/* SPDX-License-Identifier: MIT */
/*
 * The state of a walk: the directory reached so far, as a descriptor, and the text of the rest. A
 * symbolic link is replaced by its text in front of the rest, as in path_resolution(7):
 *
 *     /srv/job/link/out     directory: /srv/job     rest: link/out     link ─▶ ../data
 *                           directory: /srv/job     rest: ../data/out
 *
 * So every component passes the same checks, wherever its name comes from.
 */
#include "base/files/output_path.h"

#include "base/files/unmapped_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    LINKS_MAX = 40, /* path_resolution(7) */
    PATH_BYTES = 4096,
};

struct walk {
    const char *path; /* the whole path, for messages */
    int directory;
    char rest[PATH_BYTES]; /* not walked yet */
    unsigned links;
};

static int failed(const struct walk *walk, int err, struct error *error)
{
    return error_set(error, err, "cannot write %s: %s", walk->path, strerror(-err));
}

static bool is_trusted(uid_t uid)
{
    return uid == 0 || owner_is_self(uid);
}

/* A private group is common (umask 002), so the group of this process counts as its user. */
static bool others_may_write(const struct stat *directory)
{
    bool by_group = (directory->st_mode & S_IWGRP) && !group_is_self(directory->st_gid);
    return !is_trusted(directory->st_uid) || by_group || (directory->st_mode & S_IWOTH);
}

static bool is_link_trusted(const struct stat *link, const struct stat *directory)
{
    bool is_sticky = (directory->st_mode & S_ISVTX) && is_trusted(directory->st_uid);
    return is_trusted(link->st_uid) && (is_sticky || !others_may_write(directory));
}

static void enter(struct walk *walk, int directory)
{
    close(walk->directory);
    walk->directory = directory;
}

/* Splits the first component off. False: the path has no further component. */
static bool take_component(struct walk *walk, char *name, size_t size)
{
    const char *start = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(start, "/");
    if (length == 0)
        return false;
    snprintf(name, size, "%.*s", (int)length, start);
    memmove(walk->rest, start + length, strlen(start + length) + 1);
    return true;
}

static bool is_at_end(const struct walk *walk)
{
    return walk->rest[strspn(walk->rest, "/")] == '\0';
}

/* Moving a directory needs write permission for the directory itself. */
static int check_parent(const struct walk *walk, int parent, const char *name, struct error *error)
{
    struct stat left, entered;
    if (strcmp(name, "..") != 0)
        return 0;
    if (fstat(walk->directory, &left) != 0 || fstat(parent, &entered) != 0)
        return failed(walk, -errno, error);
    if (!others_may_write(&left) || left.st_uid == entered.st_uid)
        return 0;
    return error_set(error, -EPERM,
                     "cannot write %s: user %u can move the directory before \"..\"; use a path "
                     "without \"..\"",
                     walk->path, (unsigned)left.st_uid);
}

static bool is_in_procfs(int directory)
{
    struct statfs system;
    return fstatfs(directory, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* A link of /proc may have a target without a path; only the kernel can follow the link. */
static int follow_in_procfs(struct walk *walk, const char *name, struct error *error)
{
    int directory = openat(walk->directory, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return failed(walk, -errno, error);
    enter(walk, directory);
    return 0;
}

static int follow_text(struct walk *walk, int link, struct error *error)
{
    char target[PATH_BYTES], joined[PATH_BYTES];
    ssize_t length = readlinkat(link, "", target, sizeof(target));
    if (length < 0)
        return failed(walk, -errno, error);
    int joined_length =
        snprintf(joined, sizeof(joined), "%.*s/%s", (int)length, target, walk->rest);
    if ((size_t)joined_length >= sizeof(joined))
        return failed(walk, -ENAMETOOLONG, error);
    strcpy(walk->rest, joined);
    if (length == 0 || target[0] != '/')
        return 0;
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return failed(walk, -errno, error);
    enter(walk, root);
    return 0;
}

static int follow(struct walk *walk, const char *name, int link, struct error *error)
{
    struct stat status, directory;
    if (fstat(link, &status) != 0 || fstat(walk->directory, &directory) != 0)
        return failed(walk, -errno, error);
    if (!S_ISLNK(status.st_mode))
        return failed(walk, -ENOTDIR, error);
    if (++walk->links > LINKS_MAX)
        return failed(walk, -ELOOP, error);
    if (!is_link_trusted(&status, &directory))
        return error_set(error, -EPERM,
                         "cannot write %s: another user (%u) can change the symbolic link %s; use "
                         "a path without links",
                         walk->path,
                         (unsigned)(is_trusted(status.st_uid) ? directory.st_uid : status.st_uid),
                         name);
    return is_in_procfs(walk->directory) ? follow_in_procfs(walk, name, error)
                                         : follow_text(walk, link, error);
}

/* O_DIRECTORY makes autofs mount the directory. */
static int step(struct walk *walk, const char *name, struct error *error)
{
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    int directory = openat(walk->directory, name, flags | O_DIRECTORY);
    if (directory >= 0) {
        int err = check_parent(walk, directory, name, error);
        enter(walk, directory);
        return err;
    }
    if (errno != ENOTDIR && errno != ELOOP)
        return failed(walk, -errno, error);
    int link = openat(walk->directory, name, flags);
    if (link < 0)
        return failed(walk, -errno, error);
    int err = follow(walk, name, link, error);
    close(link);
    return err;
}

static int walk_to_end(struct walk *walk, char *name, size_t size, struct error *error)
{
    char component[PATH_BYTES];
    while (take_component(walk, component, sizeof(component))) {
        if (is_at_end(walk)) {
            if (strcmp(component, ".") == 0 || strcmp(component, "..") == 0)
                return failed(walk, -EISDIR, error);
            size_t length = strlen(component);
            if (length >= size)
                return failed(walk, -ENAMETOOLONG, error);
            memcpy(name, component, length + 1);
            return 0;
        }
        int err = step(walk, component, error);
        if (err)
            return err;
    }
    return failed(walk, walk->path[0] ? -EISDIR : -ENOENT, error);
}

int output_path_open(struct output_path *out, const char *path, struct error *error)
{
    struct walk walk = {.path = path};
    *out = (struct output_path){.directory = -1};
    if (strlen(path) >= sizeof(walk.rest))
        return failed(&walk, -ENAMETOOLONG, error);
    strcpy(walk.rest, path);
    walk.directory = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (walk.directory < 0)
        return failed(&walk, -errno, error);
    int err = walk_to_end(&walk, out->name, sizeof(out->name), error);
    if (err)
        close(walk.directory);
    else
        out->directory = walk.directory;
    return err;
}

void output_path_close(struct output_path *out)
{
    if (out->directory >= 0)
        close(out->directory);
    out->directory = -1;
}

int output_path_stat(const struct output_path *path, struct stat *status)
{
    return fstatat(path->directory, path->name, status, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : -errno;
}

int output_path_look(const struct output_path *path, struct stat *status)
{
    int fd = openat(path->directory, path->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, status) == 0)
        return fd;
    int err = -errno;
    close(fd);
    return err;
}

int output_path_reopen(int fd, int flags)
{
    char name[64];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    int opened = open(name, flags | O_CLOEXEC | O_NOCTTY);
    return opened < 0 ? -errno : opened;
}
