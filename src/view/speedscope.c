/* SPDX-License-Identifier: MIT */
#include "view/speedscope.h"

#include "base/files/unmapped_owner.h"
#include "view/server/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define RELEASE "node_modules/speedscope/dist/release"

enum { PARENTS_MAX = 32 };

/* Scripts of the folder can read the profile and the sources, and /tmp is a parent of many folders:
 * any user can make a folder there. */
static bool is_trusted(int folder)
{
    struct stat status;
    return fstat(folder, &status) == 0 && (status.st_uid == 0 || owner_is_self(status.st_uid)) &&
           !(status.st_mode & S_IWOTH);
}

static int try(const char *prefix, const char *path)
{
    char whole[4200];
    if ((size_t)snprintf(whole, sizeof(whole), "%s%s", prefix, path) >= sizeof(whole))
        return -ENAMETOOLONG;
    int folder = folder_open(whole, "speedscope", NULL);
    if (folder < 0 || is_trusted(folder))
        return folder;
    close(folder);
    return -EPERM;
}

/* npm's rule: this folder, then each parent. */
static int find_above(void)
{
    char prefix[3 * PARENTS_MAX + 1] = "";
    int folder = -ENOENT;
    for (int i = 0; i < PARENTS_MAX && folder < 0; i++) {
        folder = try(prefix, RELEASE);
        snprintf(prefix + (size_t)3 * (size_t)i, 4, "../");
    }
    return folder;
}

static int find_installed(void)
{
    static const char *const prefixes[] = {"/usr/local/lib/", "/usr/lib/", "/usr/share/"};
    const char *home = getenv("HOME"), *npm = getenv("NPM_CONFIG_PREFIX");
    int folder = npm ? try(npm, "/lib/" RELEASE) : -ENOENT;
    if (folder < 0 && home)
        folder = try(home, "/.npm-global/lib/" RELEASE);
    for (size_t i = 0; folder < 0 && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        folder = try(prefixes[i], RELEASE);
    return folder;
}

int speedscope_open(const char *path, struct error *error)
{
    if (path)
        return folder_open(path, "speedscope", error);
    int folder = find_above();
    if (folder < 0)
        folder = find_installed();
    return folder >= 0 ? folder
                       : error_set(error, -ENOENT,
                                   "speedscope was not found: `npm install speedscope`, or "
                                   "--speedscope=DIR with the folder dist/release");
}
