/* SPDX-License-Identifier: MIT */
#include "symbols/files/debug_path.h"

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
    /* Resolved, because distributions link /lib to /usr/lib and use only one of the names. */
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

/* Behind the last slash. */
static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool debug_path_of_supplement(struct buffer *path, int place, const struct supplement_link *link,
                              const char *linked_from, const char *debug_directory)
{
    const char *base_name = last_component(link->name);
    switch (place) {
    case 0:
        return path_of_link(path, link->name, linked_from);
    case 1:
        return path_of_link(path, base_name, linked_from);
    case 2:
        return debug_path_of_build_id(path, debug_directory, link->id, link->id_bytes);
    default:
        buffer_clear(path);
        buffer_printf(path, "%s/.dwz/%s", debug_directory, base_name);
        return terminate(path);
    }
}

/* The directory of a file, with the slash. */
static void print_directory(struct buffer *path, const char *file)
{
    buffer_append(path, file, (size_t)(last_component(file) - file));
}

static void print_dwo(struct buffer *path, const struct dwo_link *link)
{
    if (link->name[0] != '/' && link->directory[0])
        buffer_printf(path, "%s/", link->directory);
    buffer_text(path, link->name);
}

bool debug_path_of_dwo(struct buffer *path, int place, const struct dwo_link *link,
                       const char *linked_file, const char *debug_directory)
{
    bool is_absolute = link->name[0] == '/';
    buffer_clear(path);
    switch (place) {
    case 0:
        print_dwo(path, link);
        break;
    case 1:
        buffer_printf(path, "%s/", debug_directory);
        print_dwo(path, link);
        break;
    case 2:
        if (is_absolute || link->directory[0] == '/')
            return false;
        print_directory(path, linked_file);
        print_dwo(path, link);
        break;
    case 3:
        if (is_absolute)
            return false;
        print_directory(path, linked_file);
        buffer_text(path, link->name);
        break;
    default:
        print_directory(path, linked_file);
        buffer_text(path, last_component(link->name));
    }
    return terminate(path);
}

bool debug_path_of_dwp(struct buffer *path, int place, const char *linked_file,
                       const char *debug_file, const char *debug_directory)
{
    const char *name = last_component(linked_file);
    if ((place == 1 || place == 2) && !debug_file)
        return false;
    buffer_clear(path);
    switch (place) {
    case 0:
        buffer_printf(path, "%s.dwp", linked_file);
        break;
    case 1:
        buffer_printf(path, "%s.dwp", debug_file);
        break;
    case 2:
        print_directory(path, debug_file);
        buffer_printf(path, "%s.dwp", name);
        break;
    default:
        buffer_printf(path, "%s/%s.dwp", debug_directory, name);
    }
    return terminate(path);
}
