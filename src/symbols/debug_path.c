/* SPDX-License-Identifier: MIT */
#include "symbols/debug_path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool terminate(struct buffer *path)
{
    buffer_u8(path, 0);
    return !path->failed;
}

bool debug_path_of_build_id(struct buffer *path, const char *debug_directory, const uint8_t *id,
                            size_t id_bytes)
{
    if (id_bytes < 2)
        return false;
    buffer_clear(path);
    buffer_printf(path, "%s/.build-id/%02x/", debug_directory, id[0]);
    for (size_t i = 1; i < id_bytes; i++)
        buffer_printf(path, "%02x", id[i]);
    buffer_text(path, ".debug");
    return terminate(path);
}

bool debug_path_of_debuglink(struct buffer *path, int place, const char *link,
                             const char *linked_from, const char *debug_directory)
{
    /* Resolved, because distributions link /lib to /usr/lib and use one of the two names only. */
    char directory[PATH_MAX];
    if (link[0] == '\0' || strchr(link, '/') || !realpath(linked_from, directory))
        return false;
    strrchr(directory, '/')[0] = '\0';
    buffer_clear(path);
    buffer_printf(path, "%s%s/%s%s", place == 2 ? debug_directory : "", directory,
                  place == 1 ? ".debug/" : "", link);
    return terminate(path);
}

static bool path_of_link(struct buffer *path, const char *name, const char *linked_from)
{
    char directory[PATH_MAX] = "";
    buffer_clear(path);
    if (name[0] != '/') {
        if (!linked_from || !realpath(linked_from, directory))
            return false;
        strrchr(directory, '/')[1] = '\0';
    }
    buffer_printf(path, "%s%s", directory, name);
    return terminate(path);
}

bool debug_path_of_supplement(struct buffer *path, int place, const struct supplement_link *link,
                              const char *linked_from, const char *debug_directory)
{
    if (place == 0)
        return path_of_link(path, link->name, linked_from);
    if (place == 1)
        return debug_path_of_build_id(path, debug_directory, link->id, link->id_bytes);
    const char *slash = strrchr(link->name, '/');
    buffer_clear(path);
    buffer_printf(path, "%s/.dwz/%s", debug_directory, slash ? slash + 1 : link->name);
    return terminate(path);
}
