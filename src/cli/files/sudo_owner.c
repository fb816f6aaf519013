/* SPDX-License-Identifier: MIT */
#include "cli/files/sudo_owner.h"

#include "base/files/sudo_user.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sudo_owner sudo_owner_find(void)
{
    struct sudo_user user = sudo_user_find();
    return (struct sudo_owner){.is_other = user.is_known, .uid = user.uid, .gid = user.gid};
}

uid_t sudo_owner_uid(const struct sudo_owner *owner)
{
    return owner->is_other ? owner->uid : geteuid();
}

void sudo_owner_give(const struct sudo_owner *owner, int fd)
{
    if (owner->is_other && fchown(fd, owner->uid, owner->gid) != 0)
        return;
}

static bool is_empty(int directory)
{
    int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = again < 0 ? NULL : fdopendir(again);
    if (!listing) {
        if (again >= 0)
            close(again);
        return false;
    }
    size_t others = 0;
    for (struct dirent *entry; (entry = readdir(listing));)
        others += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return others == 0;
}

void sudo_owner_give_directory(const struct sudo_owner *owner, int above, const char *name)
{
    struct stat status;
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && status.st_uid == geteuid() && is_empty(fd))
        sudo_owner_give(owner, fd);
    close(fd);
}
