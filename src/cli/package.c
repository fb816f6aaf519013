/* SPDX-License-Identifier: MIT */
#include "cli/package.h"

#include "base/buffer.h"
#include "base/io.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DPKG_INFO "/var/lib/dpkg/info"
enum { LIST_BYTES_MAX = 8 << 20 };

/* A list is one path a line. Since /lib became a link to /usr/lib, lists may name a file either
 * way. */
static bool list_has(const struct buffer *list, const char *path)
{
    size_t length = strlen(path);
    const char *at = (const char *)list->bytes;
    const char *end = at + list->size;
    while (at && at < end && (at = memmem(at, (size_t)(end - at), path, length))) {
        bool starts = at == (const char *)list->bytes || at[-1] == '\n';
        if (starts && (at + length == end || at[length] == '\n'))
            return true;
        at += length;
    }
    return false;
}

/* "libfoo3:amd64.list" -> "libfoo3-dbgsym"; glibc's has another name. */
static void debug_package_name(const char *list_name, char *package, size_t size)
{
    int length = (int)strcspn(list_name, ":");
    if (list_name[length] == '\0')
        length -= (int)strlen(".list");
    bool is_libc = length == 5 && strncmp(list_name, "libc6", 5) == 0;
    snprintf(package, size, "%.*s-%s", length, list_name, is_libc ? "dbg" : "dbgsym");
}

void package_debug_symbols(const char *path, char *package, size_t size)
{
    package[0] = '\0';
    char *real = realpath(path, NULL);
    DIR *lists = real ? opendir(DPKG_INFO) : NULL;
    const char *usr = "/usr";
    const char *without_usr =
        real && strncmp(real, usr, strlen(usr)) == 0 ? real + strlen(usr) : NULL;
    struct buffer list = {0};
    for (struct dirent *entry; lists && !package[0] && (entry = readdir(lists));) {
        const char *suffix = strrchr(entry->d_name, '.');
        char name[512];
        if (!suffix || strcmp(suffix, ".list") != 0)
            continue;
        snprintf(name, sizeof(name), "%s/%s", DPKG_INFO, entry->d_name);
        buffer_clear(&list);
        if (io_read_file(name, &list, LIST_BYTES_MAX) == 0 &&
            (list_has(&list, real) || (without_usr && list_has(&list, without_usr))))
            debug_package_name(entry->d_name, package, size);
    }
    buffer_free(&list);
    if (lists)
        closedir(lists);
    free(real);
}
