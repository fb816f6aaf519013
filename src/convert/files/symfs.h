/* SPDX-License-Identifier: MIT */
#pragma once

#include "convert/options.h"

/* Where a recorded file is looked for: below the directory of --symfs, in which the files of another
 * machine lie as they lay there. symfs NULL: on this machine. Too long paths are cut: nothing is there. */
struct symfs_path {
    char text[4096];
};
struct symfs_path symfs_path(const char *symfs, const char *recorded);

/* The same for a file with this build-id, which may be gone from its path. */
struct symfs_path symfs_path_of(const struct convert_options *options, const char *recorded,
                                const uint8_t *build_id, size_t build_id_bytes);
