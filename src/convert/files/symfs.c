/* SPDX-License-Identifier: MIT */
#include "convert/files/symfs.h"

#include <stdio.h>

struct symfs_path symfs_path(const char *symfs, const char *recorded)
{
    struct symfs_path path;
    snprintf(path.text, sizeof(path.text), "%s%s", symfs && recorded[0] == '/' ? symfs : "",
             recorded);
    return path;
}

struct symfs_path symfs_path_of(const struct convert_options *options, const char *recorded,
                                const uint8_t *build_id, size_t build_id_bytes)
{
    const char *now = options->find_gone ? options->find_gone(options->find_gone_context, recorded,
                                                              build_id, build_id_bytes)
                                         : NULL;
    return now ? symfs_path(NULL, now) : symfs_path(options->symfs, recorded);
}
