/* SPDX-License-Identifier: MIT */
/*
 * Full paths of source files. Paths given to the compiler as relative ("../src/a.h") stay relative
 * in libdw; the compiler's working directory is the unit's DW_AT_comp_dir.
 */
#pragma once

#include "base/containers/intern.h"

#include <elfutils/libdw.h>

struct source_paths_unit { /* a split unit, and the skeleton with the directory */
    Dwarf_CU *split, *skeleton;
};

struct source_paths {
    struct source_paths_unit *units;
    size_t unit_count, unit_capacity;
    struct intern *keys; /* libdw's pointer -> index: a pointer stands for a file of a unit */
    char **texts;        /* owned; NULL: libdw's path is full */
    size_t count, capacity;
};

int source_paths_init(struct source_paths *paths);
void source_paths_free(struct source_paths *paths);

/* Makes paths of a split unit relative to the skeleton's directory. */
void source_paths_share_directory(struct source_paths *paths, Dwarf_CU *split, Dwarf_CU *skeleton);

/* path: name of a file of this unit, as returned by libdw; NULL gives NULL.
 * Valid until source_paths_free(). */
const char *source_paths_full(struct source_paths *paths, Dwarf_CU *cu, const char *path);
