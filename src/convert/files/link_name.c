/* SPDX-License-Identifier: MIT */
#include "convert/files/link_name.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* TASK_COMM_LEN of the kernel is 16, with the NUL (proc(5), comm). */
enum { NAME_BYTES_MAX = 15 };

bool link_name_leads_to(const char *name, const char *path)
{
    char link[4096];
    struct stat link_status, linked, file;
    const char *slash = strrchr(path, '/');
    size_t length = strlen(name);
    if (!slash || length == 0 || length >= NAME_BYTES_MAX || strchr(name, '/'))
        return false;
    int size = snprintf(link, sizeof(link), "%.*s/%s", (int)(slash - path), path, name);
    return size > 0 && (size_t)size < sizeof(link) && lstat(link, &link_status) == 0 &&
           S_ISLNK(link_status.st_mode) && stat(link, &linked) == 0 && stat(path, &file) == 0 &&
           linked.st_dev == file.st_dev && linked.st_ino == file.st_ino;
}
