/* SPDX-License-Identifier: MIT */
#include "record/session/preload_path.h"

#include "record/session/sampler_copy.h"
#include "record/launch/trust.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(PRELOAD_PATH_BYTES >= PATH_MAX, "realpath() writes up to PATH_MAX bytes");

/* Resolves the directory only. The file keeps its name, the key of a sampler's search for its
 * own entry in LD_PRELOAD. */
static int resolve(char path[PRELOAD_PATH_BYTES], const char *installed)
{
    char directory[PRELOAD_PATH_BYTES];
    int length = snprintf(directory, sizeof(directory), "%s", installed);
    char *slash = strrchr(directory, '/');
    if (!slash || length >= (int)sizeof(directory))
        return -ENAMETOOLONG;
    slash[slash == directory] = '\0';
    if (!realpath(directory, path))
        return -errno;
    size_t used = strcmp(path, "/") == 0 ? 0 : strlen(path);
    length = snprintf(path + used, PRELOAD_PATH_BYTES - used, "%s", strrchr(installed, '/'));
    return length < (int)(PRELOAD_PATH_BYTES - used) ? 0 : -ENAMETOOLONG;
}

/* Whether every user could open the file. */
static bool is_open_to_all(const char *path)
{
    char at[PRELOAD_PATH_BYTES];
    struct stat status;
    mode_t needed = S_IROTH;
    snprintf(at, sizeof(at), "%s", path);
    do {
        if (stat(at, &status) != 0 || (status.st_mode & needed) != needed)
            return false;
        needed = S_IXOTH;
    } while (trust_go_up(at));
    return true;
}

int preload_path_find(char path[PRELOAD_PATH_BYTES], const char *installed, struct error *error)
{
    int err = resolve(path, installed);
    if (err)
        return error_set(error, err, "cannot read %s: %s", installed, strerror(-err));
    err = trust_check(path, error);
    if (err)
        return err;
    if (sampler_copy_fits(path) && (geteuid() != 0 || is_open_to_all(path)))
        return 0;
    err = sampler_copy_make(path, installed);
    if (err)
        return error_set(error, err,
                         "cannot load %s (a space, colon or dollar in the path, a long path, or a "
                         "directory closed "
                         "to other users), nor a copy in %s: %s; install rec elsewhere",
                         installed, sampler_copy_places(), strerror(-err));
    return 0;
}
