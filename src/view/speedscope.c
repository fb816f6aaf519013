/* SPDX-License-Identifier: MIT */
#include "view/speedscope.h"

#include "view/server/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define RELEASE "node_modules/speedscope/dist/release"

enum { PARENTS_MAX = 32 };

static int try(const char *prefix, const char *path)
{
    char whole[4200];
    if ((size_t)snprintf(whole, sizeof(whole), "%s%s", prefix, path) >= sizeof(whole))
        return -ENAMETOOLONG;
    return folder_open(whole, "speedscope", NULL);
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
