/* SPDX-License-Identifier: MIT */
#include "cli/command.h"

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or why this file cannot be executed. */
static int check_file(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    return access(path, X_OK) == 0 ? 0 : -errno;
}

/* The first that can be executed; else the best reason found. */
static int check_search_path(const char *command)
{
    const char *path = getenv("PATH");
    int best = -ENOENT;
    for (const char *at = path ? path : "/bin:/usr/bin"; at; at = *at ? at + 1 : NULL) {
        size_t length = strcspn(at, ":");
        char file[4096];
        int size =
            snprintf(file, sizeof(file), "%.*s%s%s", (int)length, at, length ? "/" : "", command);
        int err = (size_t)size < sizeof(file) ? check_file(file) : -ENAMETOOLONG;
        if (err == 0)
            return 0;
        if (err == -EACCES)
            best = err;
        at += length;
    }
    return best;
}

int command_check(const char *command, struct error *error)
{
    bool has_slash = strchr(command, '/') != NULL;
    int err = has_slash            ? check_file(command)
              : command[0] == '\0' ? -ENOENT
                                   : check_search_path(command);
    if (err == 0)
        return 0;
    if (err != -ENOENT && err != -ENOTDIR)
        return error_set(error, STATUS_CANNOT_RUN, "cannot run %s: %s", command, strerror(-err));
    const char *nearest = has_slash ? NULL : options_nearest(command, help_commands);
    if (nearest)
        return error_set(error, STATUS_NO_COMMAND, "there is no command %s: did you mean `rec %s`?",
                         command, nearest);
    if (!has_slash && access(command, F_OK) == 0)
        return error_set(error, STATUS_NO_COMMAND,
                         "there is no command %s in PATH: did you mean ./%s?", command, command);
    return error_set(error, STATUS_NO_COMMAND, "there is no command %s", command);
}
