/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* The Debian package with the debug symbols of a file, by dpkg's file lists, read directly (some 10
 * MB: 20 ms, unless the package is called after the file). "" where dpkg does not know the file or there is no
 * dpkg. */
void debug_package_find(const char *path, char *package, size_t size);
