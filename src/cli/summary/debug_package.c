/* SPDX-License-Identifier: MIT */
#include "cli/summary/debug_package.h"

#include "base/containers/buffer.h"
#include "base/files/io.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DPKG_INFO "/var/lib/dpkg/info"
enum { LIST_BYTES_MAX = 8 << 20 };

/* A list has a path in each line. Since /lib is a link to /usr/lib, lists have either path. */
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

/* "libfoo3:amd64.list" -> "libfoo3-dbgsym"; exception: libc6-dbg. */
static void debug_package_name(const char *list_name, char *package, size_t size)
{
    int length = (int)strcspn(list_name, ":");
    if (list_name[length] == '\0')
        length -= (int)strlen(".list");
    bool is_libc = length == 5 && strncmp(list_name, "libc6", 5) == 0;
    snprintf(package, size, "%.*s-%s", length, list_name, is_libc ? "dbg" : "dbgsym");
}

struct search {                     /* for the package of a file */
    const char *path, *without_usr; /* without_usr is NULL outside of /usr */
    char stem[64];                  /* of the file name; usually part of the package name */
    struct buffer list;
    char *package;
    size_t package_size;
};

/* "libdeflate.so.0" -> "deflate", "python3.11" -> "python". */
static void find_stem(struct search *search)
{
    const char *name = strrchr(search->path, '/') + 1;
    if (strncmp(name, "lib", 3) == 0)
        name += 3;
    size_t length = 0;
    while (length + 1 < sizeof(search->stem) && islower((unsigned char)name[length]))
        length++;
    memcpy(search->stem, name, length);
}

static void try_list(struct search *search, const char *list_name)
{
    char name[512];
    snprintf(name, sizeof(name), "%s/%s", DPKG_INFO, list_name);
    buffer_clear(&search->list);
    if (io_read_file(name, &search->list, LIST_BYTES_MAX) == 0 &&
        (list_has(&search->list, search->path) ||
         (search->without_usr && list_has(&search->list, search->without_usr))))
        debug_package_name(list_name, search->package, search->package_size);
}

static void try_lists(struct search *search, DIR *lists, bool with_stem)
{
    rewinddir(lists);
    for (struct dirent *entry; !search->package[0] && (entry = readdir(lists));) {
        const char *suffix = strrchr(entry->d_name, '.');
        bool has_stem = strstr(entry->d_name, search->stem) != NULL;
        if (suffix && strcmp(suffix, ".list") == 0 && has_stem == with_stem)
            try_list(search, entry->d_name);
    }
}

/* Of thousands of lists, lists with the stem in the name come first: packages are usually named
 * after the contents. */
void debug_package_find(const char *path, char *package, size_t size)
{
    package[0] = '\0';
    const char *usr = "/usr";
    char *real = realpath(path, NULL);
    DIR *lists = real ? opendir(DPKG_INFO) : NULL;
    struct search search = {.path = real, .package = package, .package_size = size};
    if (lists) {
        if (strncmp(real, usr, strlen(usr)) == 0)
            search.without_usr = real + strlen(usr);
        find_stem(&search);
        try_lists(&search, lists, true);
        try_lists(&search, lists, false);
        closedir(lists);
    }
    buffer_free(&search.list);
    free(real);
}
