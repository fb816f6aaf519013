/* SPDX-License-Identifier: MIT */
#include "convert/symfs.h"

#include <stdio.h>

struct symfs_path symfs_path(const char *symfs, const char *recorded)
{
    struct symfs_path path;
    snprintf(path.text, sizeof(path.text), "%s%s", symfs && recorded[0] == '/' ? symfs : "",
             recorded);
    return path;
}
