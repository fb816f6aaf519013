/* SPDX-License-Identifier: MIT */
#include "view/speedscope.h"

#include "base/files/unmapped_owner.h"
#include "view/server/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RELEASE "node_modules/speedscope/dist/release"

/* Of npm's global installations: the prefix may contain links, the folders below may not. */
static const struct place {
    const char *variable; /* with the prefix; NULL: fixed */
    const char *prefix, *below;
} places[] = {
    {"NPM_CONFIG_PREFIX", NULL, "lib/" RELEASE},
    {"HOME", NULL, ".npm-global/lib/" RELEASE},
    {NULL, "/usr/local/lib", RELEASE},
    {NULL, "/usr/lib", RELEASE},
    {NULL, "/usr/share", RELEASE},
};

static bool is_trusted(int folder)
{
    struct stat status;
    if (fstat(folder, &status) != 0 || (status.st_uid != 0 && !owner_is_self(status.st_uid)))
        return false;
    bool by_group = (status.st_mode & S_IWGRP) && !group_is_of_root(status.st_gid);
    return !by_group && !(status.st_mode & S_IWOTH);
}

static int enter(int above, const char *name)
{
    int folder = openat(above, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    if (is_trusted(folder))
        return folder;
    close(folder);
    return -EPERM;
}

/* -EPERM: other users may write to one of the folders below the prefix. */
static int walk(const char *prefix, const char *below)
{
    char path[64], *rest = path;
    snprintf(path, sizeof(path), "%s", below);
    int folder = open(prefix, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int err = folder < 0 ? -errno : 0;
    for (const char *name; !err && (name = strsep(&rest, "/"));) {
        int next = enter(folder, name);
        close(folder);
        folder = next;
        err = next < 0 ? next : 0;
    }
    return err ? err : folder;
}

static int find(const struct place *place, struct error *error)
{
    const char *prefix = place->variable ? getenv(place->variable) : place->prefix;
    if (!prefix || !prefix[0])
        return -ENOENT;
    int folder = walk(prefix, place->below);
    if (folder == -EPERM)
        error_set(error, folder,
                  "speedscope in %s/%s is not served: a folder belongs to another user or is "
                  "writable by others; chmod go-w, or name the folder with --speedscope=DIR",
                  prefix, place->below);
    return folder < 0 ? folder : folder_check(folder, prefix, "speedscope", NULL);
}

int speedscope_open(const char *path, struct error *error)
{
    if (path)
        return folder_open(path, "speedscope", error);
    error_set(error, -ENOENT,
              "speedscope was not found: `npm install -g speedscope`, and "
              "--speedscope=\"$(npm root -g)/speedscope/dist/release\"");
    int folder = -ENOENT;
    for (size_t i = 0; folder < 0 && i < sizeof(places) / sizeof(places[0]); i++)
        folder = find(&places[i], error);
    return folder;
}
