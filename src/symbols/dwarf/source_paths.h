/* SPDX-License-Identifier: MIT */
/*
 * Full paths of source files. libdw leaves those relative that the compiler was given relative
 * ("../src/ a.h"); the directory it ran in is the unit's DW_AT_comp_dir.
 */
#pragma once

#include "base/containers/intern.h"

#include <elfutils/libdw.h>

struct source_paths_unit { /* a split unit, and the one that knows where both were compiled */
    Dwarf_CU *split, *skeleton;
};

struct source_paths {
    struct source_paths_unit *units;
    size_t unit_count, unit_capacity;
    struct intern *keys; /* libdw's pointer -> index: one pointer is one file of one unit */
    char **texts;        /* owned; NULL: libdw's path is the full one */
    size_t count, capacity;
};

int source_paths_init(struct source_paths *paths);
void source_paths_free(struct source_paths *paths);

/* Paths of a split unit are relative to its skeleton's directory. */
void source_paths_share_directory(struct source_paths *paths, Dwarf_CU *split, Dwarf_CU *skeleton);

/* path: name of a file of this unit, as returned by libdw; NULL gives NULL.
 * Valid until source_paths_free(). */
const char *source_paths_full(struct source_paths *paths, Dwarf_CU *cu, const char *path);
