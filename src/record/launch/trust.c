/* SPDX-License-Identifier: MIT */
#include "record/launch/trust.h"

#include "base/files/unmapped_owner.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool trust_go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || path[1] == '\0')
        return false;
    slash[slash == path] = '\0';
    return true;
}

static bool is_owner_of(uid_t uid, const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_uid == uid;
}

/* The owner of rec can replace rec itself, and gains nothing by another sampler. */
static bool is_trusted_owner(uid_t uid)
{
    return uid == 0 || owner_is_self(uid) || is_owner_of(uid, "/proc/self/exe") ||
           is_owner_of(uid, "/");
}

/* Every user can create entries in such a directory. */
static bool is_in_directory_of_all(const char *component)
{
    char above[PATH_MAX];
    struct stat status;
    int length = snprintf(above, sizeof(above), "%s", component);
    if (length >= (int)sizeof(above))
        return true;
    return trust_go_up(above) && (stat(above, &status) != 0 || status.st_mode & S_IWOTH);
}

/* The convention of useradd(8) and of pam_umask(8), "usergroups". */
static bool is_private_group(gid_t gid)
{
    const struct passwd *user = geteuid() == 0 ? NULL : getpwuid(geteuid());
    const struct group *group = user && user->pw_gid == gid ? getgrgid(gid) : NULL;
    if (!group || strcmp(group->gr_name, user->pw_name) != 0)
        return false;
    for (char *const *member = group->gr_mem; *member; member++)
        if (strcmp(*member, user->pw_name) != 0)
            return false;
    return true;
}

static bool is_open_to_others(const struct stat *status)
{
    if (S_ISLNK(status->st_mode) || (S_ISDIR(status->st_mode) && status->st_mode & S_ISVTX))
        return false;
    return status->st_mode & S_IWOTH ||
           (status->st_mode & S_IWGRP && !group_is_of_root(status->st_gid) &&
            !is_private_group(status->st_gid));
}

/* The owner of such a directory can replace rec as well. */
static bool is_above_rec(const char *component)
{
    char rec[PATH_MAX];
    size_t length = strlen(component);
    ssize_t n = readlink("/proc/self/exe", rec, sizeof(rec) - 1);
    rec[n < 0 ? 0 : n] = '\0';
    return strncmp(rec, component, length) == 0 && rec[length] == '/';
}

static int check_component(const char *path, const char *component, struct error *error)
{
    struct stat status;
    if (lstat(component, &status) != 0)
        return error_set(error, -errno, "cannot read %s: %s", component, strerror(errno));
    if (!is_trusted_owner(status.st_uid))
        return error_set(
            error, -EPERM,
            "will not inject %s: %s belongs neither to root, to you, nor to the owner of rec; "
            "install rec elsewhere",
            path, component);
    if (owner_is_unmapped(status.st_uid) && is_in_directory_of_all(component) &&
        !is_above_rec(component))
        return error_set(error, -EPERM,
                         "will not inject %s: the owner of %s has no mapping in this user "
                         "namespace, and may be any user; install rec elsewhere",
                         path, component);
    if (is_open_to_others(&status))
        return error_set(
            error, -EPERM,
            "will not inject %s: other users may write to %s; chmod go-w, or install rec elsewhere",
            path, component);
    return 0;
}

static int check_components(const char *path, char *at, struct error *error)
{
    int err;
    do
        err = check_component(path, at, error);
    while (err == 0 && trust_go_up(at));
    return err;
}

int trust_check(const char *path, struct error *error)
{
    char resolved[PATH_MAX];
    if (!realpath(path, resolved))
        return error_set(error, -errno, "cannot read %s: %s", path, strerror(errno));
    /* The last component may be a symbolic link; in a sticky directory, another user could have
     * made the link. */
    int err = check_component(path, path, error);
    return err ? err : check_components(path, resolved, error);
}
