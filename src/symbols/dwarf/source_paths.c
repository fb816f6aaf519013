/* SPDX-License-Identifier: MIT */
#include "symbols/dwarf/source_paths.h"

#include "base/containers/array.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int source_paths_init(struct source_paths *paths)
{
    paths->keys = intern_new();
    return paths->keys ? 0 : -ENOMEM;
}

void source_paths_free(struct source_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->texts[i]);
    free(paths->texts);
    free(paths->units);
    intern_free(paths->keys);
    *paths = (struct source_paths){0};
}

void source_paths_share_directory(struct source_paths *paths, Dwarf_CU *split, Dwarf_CU *skeleton)
{
    struct source_paths_unit *unit =
        ARRAY_PUSH(paths->units, paths->unit_count, paths->unit_capacity);
    if (unit)
        *unit = (struct source_paths_unit){.split = split, .skeleton = skeleton};
}

/* The latest first: the unit being read. */
static Dwarf_CU *unit_with_directory(const struct source_paths *paths, Dwarf_CU *cu)
{
    for (size_t i = paths->unit_count; i-- > 0;)
        if (paths->units[i].split == cu)
            return paths->units[i].skeleton;
    return cu;
}

/* NULL when there is nothing to join. */
static char *join(Dwarf_CU *cu, const char *path)
{
    Dwarf_Die unit;
    Dwarf_Attribute attribute;
    const char *directory = NULL;
    if (path[0] != '/' && dwarf_cu_die(cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
        directory = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
    if (!directory || directory[0] == '\0')
        return NULL;
    /* Distributions cut the build directory off ("./stdio-common"). The first directory of a
     * version 5 file table is the same directory then, relative, and joined by libdw already. */
    size_t length = strlen(directory);
    if (strncmp(path, directory, length) == 0 && path[length] == '/')
        return NULL;
    char *full;
    const char *slash = directory[length - 1] == '/' ? "" : "/";
    return asprintf(&full, "%s%s%s", directory, slash, path) < 0 ? NULL : full;
}

const char *source_paths_full(struct source_paths *paths, Dwarf_CU *cu, const char *path)
{
    if (!path)
        return NULL;
    uint32_t index = intern_add(paths->keys, &path, sizeof(path));
    if (index == INTERN_NONE || index > paths->count)
        return path;
    if (index == paths->count) {
        char **text = ARRAY_PUSH(paths->texts, paths->count, paths->capacity);
        if (!text)
            return path;
        *text = join(unit_with_directory(paths, cu), path);
    }
    return paths->texts[index] ? paths->texts[index] : path;
}
