/* SPDX-License-Identifier: MIT */
#include "cli/commands/view_exec.h"

#include "base/text/log.h"
#include "cli/commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int find_program(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length < 0)
        return -errno;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    size_t used = slash ? (size_t)(slash - path) : 0;
    return (size_t)snprintf(path + used, size - used, "/rec-view") < size - used ? 0
                                                                                 : -ENAMETOOLONG;
}

int view_exec(char *const *words)
{
    char path[4096] = "rec-view";
    size_t count = 0;
    while (words[count])
        count++;
    char **arguments = calloc(count + 2, sizeof(*arguments));
    int err = arguments ? find_program(path, sizeof(path)) : -ENOMEM;
    if (!err) {
        arguments[0] = path;
        memcpy(arguments + 1, words, count * sizeof(*words));
        fflush(stdout);
        execv(path, arguments);
        err = -errno;
    }
    free(arguments);
    log_error("cannot run %s, a part of rec: %s", path, strerror(-err));
    return STATUS_FAILED;
}
