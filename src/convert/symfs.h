/* SPDX-License-Identifier: MIT */
#pragma once

/* Where a recorded file is looked for: below the directory of --symfs, in which the files of another
 * machine lie as they lay there. symfs NULL: on this machine. Too long paths are cut: nothing is there. */
struct symfs_path {
    char text[4096];
};
struct symfs_path symfs_path(const char *symfs, const char *recorded);
