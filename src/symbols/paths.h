/* SPDX-License-Identifier: MIT */
/*
 * Full paths of source files. libdw leaves those relative that the compiler was given relative
 * ("../src/ a.h"); the directory it ran in is the unit's DW_AT_comp_dir.
 */
#pragma once

#include "base/intern.h"

#include <elfutils/libdw.h>

struct paths {
    struct intern *keys; /* libdw's pointer -> index: one pointer is one file of one unit */
    char **texts;        /* owned; NULL: libdw's path is the full one */
    size_t count, capacity;
};

int paths_init(struct paths *paths);
void paths_free(struct paths *paths);

/* path: of a file of this unit, as libdw returned it; NULL gives NULL. Valid until paths_free(). */
const char *paths_full(struct paths *paths, Dwarf_CU *cu, const char *path);
