/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

/* The last component of a path, for display; a path that ends in a slash, as it is. */
static inline const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
