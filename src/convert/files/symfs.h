/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/options.h"

/* The path of a recorded file below the directory of --symfs, a copy of another machine's tree.
 * symfs NULL: the path itself. Overlong paths are cut, and lead to no file. */
struct symfs_path {
    char text[4096];
};
struct symfs_path symfs_path(const char *symfs, const char *recorded);

/* The same for a file with a build-id, possibly gone from its path. */
struct symfs_path symfs_path_of(const struct convert_options *options, const char *recorded,
                                const uint8_t *build_id, size_t build_id_bytes);
