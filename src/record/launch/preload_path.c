/* SPDX-License-Identifier: MIT */
#include "record/launch/preload_path.h"

#include "base/io.h"
#include "wire/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SAMPLER_BYTES_MAX (UINT32_C(64) << 20)

/* The directory above, in place; false at the root. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || path[1] == '\0')
        return false;
    slash[slash == path] = '\0';
    return true;
}

/* Whoever may run rec trusts its owner; others must not be able to put something else there. */
static int check_trust(const char *installed, struct error *error)
{
    struct stat file, directory, rec;
    char above[4096];
    snprintf(above, sizeof(above), "%s", installed);
    if (!go_up(above) || stat(installed, &file) != 0 || stat(above, &directory) != 0 ||
        stat("/proc/self/exe", &rec) != 0)
        return error_set(error, -errno, "cannot read %s: %s", installed, strerror(errno));
    bool is_sticky = directory.st_mode & S_ISVTX;
    const char *open_place = file.st_mode & S_IWOTH                      ? installed
                             : directory.st_mode & S_IWOTH && !is_sticky ? above
                                                                         : NULL;
    if (open_place)
        return error_set(
            error, -EPERM,
            "will not inject %s: everybody may write to %s; install rec where only its "
            "owner may (chmod o-w)",
            installed, open_place);
    if (file.st_uid != 0 && file.st_uid != geteuid() && file.st_uid != rec.st_uid)
        return error_set(error, -EPERM,
                         "will not inject %s: it belongs neither to you nor to the owner of rec",
                         installed);
    return 0;
}

/* Whether every user could open it. */
static bool is_open_to_all(const char *installed)
{
    char path[4096];
    struct stat status;
    mode_t needed = S_IROTH;
    snprintf(path, sizeof(path), "%s", installed);
    do {
        if (stat(path, &status) != 0 || (status.st_mode & needed) != needed)
            return false;
        needed = S_IXOTH;
    } while (go_up(path));
    return true;
}

/* A directory of our own from which code may be mapped. */
static int make_directory(struct preload_path *alias)
{
    static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct statvfs place;
        if (statvfs(places[i], &place) != 0 || place.f_flag & ST_NOEXEC)
            continue;
        snprintf(alias->directory, sizeof(alias->directory), "%s/rec-sampler-XXXXXX", places[i]);
        if (mkdtemp(alias->directory))
            return chmod(alias->directory, 0711) == 0 ? 0 : -errno;
    }
    alias->directory[0] = '\0';
    return -ENOENT;
}

static int copy(const char *from, const char *to)
{
    struct buffer content = {0};
    int err = io_read_file(from, &content, SAMPLER_BYTES_MAX);
    int fd = err ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (!err && fd < 0)
        err = -errno;
    if (!err)
        err = io_write(fd, content.bytes, content.size);
    if (!err && fchmod(fd, 0644) != 0) /* whatever the umask is */
        err = -errno;
    if (fd >= 0)
        close(fd);
    buffer_free(&content);
    return err;
}

int preload_path_make(struct preload_path *alias, const char *installed, struct error *error)
{
    *alias = (struct preload_path){0};
    int err = check_trust(installed, error);
    bool is_needed = strpbrk(installed, " :$") || strlen(installed) >= SESSION_SAMPLER_BYTES_MAX ||
                     (geteuid() == 0 && !is_open_to_all(installed));
    snprintf(alias->path, sizeof(alias->path), "%s", installed);
    if (err || !is_needed)
        return err;
    err = make_directory(alias);
    if (!err) {
        snprintf(alias->path, sizeof(alias->path), "%s/" SESSION_SAMPLER_NAME, alias->directory);
        err = copy(installed, alias->path);
    }
    if (!err)
        return 0;
    preload_path_remove(alias);
    return error_set(
        error, err,
        "cannot inject %s from where it is (a space, colon or dollar in the path, a very "
        "long one, or a directory that is closed to others), nor copy it to /tmp: %s",
        installed, strerror(-err));
}

void preload_path_remove(struct preload_path *alias)
{
    if (alias->directory[0]) {
        unlink(alias->path);
        rmdir(alias->directory);
    }
    *alias = (struct preload_path){0};
}
